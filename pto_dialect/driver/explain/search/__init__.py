"""The search of --explain and of the site: what can be found, and how it is ranked."""
