"""Files and folders that are there in full or not at all, whatever interrupts."""

STDIO = "-"  # the path that means standard input or output
