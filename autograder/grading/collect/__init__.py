"""Sorts what a learning-management system gives into a course.

archives.py   reads archives that anybody may have filled
names.py      who handed in what, and when, from the file names of five systems
students.py   finds a student of the class by what a system calls them
people.py     remembers who is behind a system's numbers, in people.csv
lessons.py    finds the lesson of a notebook by what is in it, and whether anything is answered
attempts.py   remembers which attempts were collected
place.py      puts the last attempt of a student in its place, and keeps the others
aside.py      keeps what has no place
account.py    accounts for every file
collect.py    reads the archives of a class, and says what became of them
"""
