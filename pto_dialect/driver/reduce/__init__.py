"""Programs made smaller while something about them stays true: by operations, and by lines of their text."""
