"""Rules of SIMT work-items."""
