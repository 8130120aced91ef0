"""The notebooks are tests: they are run in static mode, in which every output is the same each time."""

from __future__ import annotations

import os

os.environ["DEUZ_NB_STATIC"] = "1"
