"""The command line `pocketmt`: one file for each command, which calls the library."""
