"""What a project says about its programs: settings in a file, and comments that allow findings."""
