"""Entry of the graph host, as a module or as a script whose package is not on the path."""

import os
import sys

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    # a script's own directory comes first on the path, and would hide modules of the project
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    if os.path.dirname(here) not in sys.path:
        sys.path.append(os.path.dirname(here))
    from heddle_host.main import main

    main()
