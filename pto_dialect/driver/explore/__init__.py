"""What can be said and tried about a program without being told anything: its functions, arguments made up for them."""
