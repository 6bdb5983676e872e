"""Sorts what a learning-management system gives into a course.

archives.py   reads archives that anybody may have filled
names.py      who handed in what, and when, from the file names of five systems
students.py   finds a student of the class by what a system calls them
lessons.py    finds the lesson of a notebook by what is in it
collect.py    puts the last attempt of each student in its place, and names what it could not place
"""
