"""Regular expressions that are compiled when they are first used."""

import re
from typing import Any, cast


def lazy_pattern(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return an object with the methods and attributes of `re.compile(pattern, flags)`, compiled at its first use.

    Functions of `re`, such as `re.sub`, do not take it. The modules that translate a line have a hundred patterns, and
    most lines need few of them.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self._arguments = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._arguments), name)
        setattr(self, name, found)  # The next look-up finds it without a call.
        return found
