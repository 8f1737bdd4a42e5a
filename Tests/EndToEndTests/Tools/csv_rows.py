#!/usr/bin/env python3
"""Reads CSV files with Python's csv module and prints the rows of each as a line of JSON.

usage: csv_rows.py SEPARATOR FILE...   SEPARATOR: comma, semicolon or tab
"""
import csv
import json
import sys

delimiter = {"comma": ",", "semicolon": ";", "tab": "\t"}[sys.argv[1]]
for path in sys.argv[2:]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        print(json.dumps(list(csv.reader(file, delimiter=delimiter, strict=True))))
