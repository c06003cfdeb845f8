"""Prints the boats of the harbour, longest first."""

import csv
import sys


class Boat:
    def __init__(self, row):
        self.name = row["name"]
        self.length = float(row["length"])
        self.owner = row["owner"]

    def __str__(self):
        return f"{self.name:<14} {self.length:5.1f} m  {self.owner}"


def read(path):
    with open(path, newline="") as file:
        return [Boat(row) for row in csv.DictReader(file)]


def total(boats):
    length = 0.0
    for boat in boats:
        length += boat.length
    return length


def main():
    boats = read(sys.argv[1] if len(sys.argv) > 1 else "boats.csv")
    for boat in sorted(boats, key=lambda boat: -boat.length):
        print(boat)
    print(f"{len(boats)} boats, {total(boats):.1f} m")


if __name__ == "__main__":
    main()
