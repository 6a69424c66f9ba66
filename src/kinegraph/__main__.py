"""`python -m kinegraph` is the same as `kinegraph`."""

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C while everything is still being imported ends it as it ends commands."""
    try:
        from kinegraph.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once more would only disturb the end


if __name__ == "__main__":
    main()
