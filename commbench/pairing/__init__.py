"""Finding the bad node, GPU or link: who is tested with whom, the file of all tests, and the program between both."""
