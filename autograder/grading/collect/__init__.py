"""Sorts what a learning-management system gives into a course.

archives.py   reads archives that anybody may have filled
names.py      who handed in what, and when, from the file names of five systems
students.py   finds a student of the class by what a system calls them
lessons.py    finds the lesson of a notebook by what is in it
place.py      puts the last attempt of a student in its place, and keeps the others
collect.py    reads the archives of a class, and names what it could not place
"""
