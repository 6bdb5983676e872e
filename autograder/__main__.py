import sys

if __name__ == "__main__":
    # This comes before the imports, because an older Python may not understand the modules.
    if sys.version_info < (3, 11):  # noqa: UP036
        found = ".".join(map(str, sys.version_info[:2]))
        sys.stderr.write("autograder: this is Python " + found)
        sys.stderr.write(", and the course needs 3.11 or newer; python.org has it.\n")
        raise SystemExit(2)

    from autograder.cli import main

    raise SystemExit(main())
