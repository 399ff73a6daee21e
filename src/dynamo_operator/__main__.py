"""The command line's entry: ``dynamo-operator`` and ``python -m dynamo_operator``."""

from dynamo_operator.cli.tree import main

if __name__ == "__main__":
    main()
