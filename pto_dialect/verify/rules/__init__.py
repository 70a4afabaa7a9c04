"""The rules, each with an incorrect and a correct program: a text file for each folder of rules, and command lines."""
