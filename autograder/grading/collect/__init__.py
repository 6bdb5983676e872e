"""Sorts archives that were downloaded from a learning-management system into a course.

archives.py   reads archives whose contents cannot be trusted
names.py      reads who handed in what, and when, from the file names of five systems
students.py   finds the student of the class to whom a system's names and ids belong
people.py     remembers the students behind a system's numbers, in people.csv
lessons.py    finds the lesson of a notebook by its contents, and whether anything is answered
attempts.py   remembers which attempts were collected
place.py      puts a student's last attempt into the course, and keeps earlier ones
aside.py      keeps files that cannot be placed
account.py    records what became of every file
collect.py    reads the archives of a class, and prints what became of their files
"""
