"""Holds scenario files to the published JSON Schema of the format, as an editor would.

usage: validate.py SCHEMA SCENARIO...

Prints a line for each complaint, and ends with 1 when there are any.
"""

import json
import sys

from jsonschema import Draft202012Validator
from ruamel.yaml import YAML


def main(schema, *scenarios):
    with open(schema, encoding="utf-8") as file:
        rules = json.load(file)
    Draft202012Validator.check_schema(rules)
    validator = Draft202012Validator(rules)
    complaints = 0
    for path in scenarios:
        with open(path, encoding="utf-8") as file:
            scenario = YAML(typ="safe", pure=True).load(file)
        for error in validator.iter_errors(scenario):
            complaints += 1
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
    return 1 if complaints else 0


sys.exit(main(*sys.argv[1:]))
