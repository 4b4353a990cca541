"""What stands inside one pair of axes. Only modules here, and plots' style, axes and captions, know matplotlib."""
