"""Shared by several exercises: tables of mistakes, and makers of inputs."""
