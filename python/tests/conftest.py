"""What holds for all tests."""

import signal

# A shell that starts tests in the background may have them ignore Control-C, which some of them send themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)
