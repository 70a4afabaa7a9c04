"""What coding agents call over the Model Context Protocol: checks, fixes, runs and searches with small answers.

A call reads one program of the folder, and a child process with limits works on a private copy of it.
"""
