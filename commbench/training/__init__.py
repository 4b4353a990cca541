"""From curves to training steps: model shapes, the collectives of one step as frameworks issue them, what they cost."""
