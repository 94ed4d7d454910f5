"""What a program of GoogleTest's has printed."""
import re


def tests_passed(text):
    """How many tests passed, of a run in which none failed; 0 of a run that is not to its end, or ran nothing."""
    told = re.search(r"^\[  PASSED  \] (\d+) tests?\.$", text, re.M)
    is_whole = told is not None and "[  FAILED  ]" not in text
    return int(told[1]) if is_whole else 0
