#!/usr/bin/env python3
"""Draws different pairs of texts, and prints each as a line of JSON with what rapidfuzz says of their
grapheme clusters after NFC.

usage: similar_texts.py SEED COUNT

A line has `left`, `right`, `length` (that of the longer text) and, unless a text is too long, `distance` and
`similar` (a similarity above 0.8).
"""
import json
import random
import sys
import unicodedata
from fractions import Fraction

import regex
from rapidfuzz.distance import Levenshtein

TITLES = [
    "Nineteen Eighty-Four", "The Lord of the Rings: The Return of the King", "Emma", "Les Misérables",
    "Jane Austen", "Преступление и наказание", "Фёдор Достоевский", "孫子兵法", "ノルウェイの森", "パリの灯は遠く",
    "채식주의자", "한강", "Ὀδύσσεια", "Truyện Kiều, Nguyễn Du", "गोदान, प्रेमचन्द", "பொன்னியின் செல்வன்",
    "ألف ليلة وليلة", "เจ้าชายน้อย", "Åsa & Ångström", "1Q84", "Ⅳ ½ ﬁn", "", " ", "A",
]
CLUSTERS = [
    "👨‍👩‍👧‍👦", "👩🏽‍🚀", "👍🏻", "👍🏿", "❤️", "❤", "☂︎", "🏴‍☠️", "1️⃣", "🇩🇪", "🇫🇷", "🇩",
    "e\u0301", "q\u0323\u0307", "q\u0307\u0323", "ṩ", "a\u0301\u0302", "\u0301", "\u200d", "\u0344",
    "\u1112\u1161\u11ab", "\u1100\u1161", "\u1100", "\u11a8", "각", "가\u11a8", "ば", "は\u3099",
    "\u212b", "Å", "Ω", "\u2126", "क्ष", "क\u093c", "\u0958", "ก็", "\u09c7\u09be", "\u09cb",
    "\r\n", "\n", "\r", "\u00ad", "\u0000",
]
# What a reader takes for each other.
LOOKALIKES = dict(zip("lI1oO0SeBanmрсо日人", "1lI0Oo5c8orncoc0目入"))
# `regex` joins a consonant with any virama before it, UAX #29 (GB9c) only with one behind another consonant.
# So the edits of a text with a virama are those of whole clusters.
VIRAMA = "\u094d"
LONGEST = 500


def clusters(text):
    return regex.findall(r"\X", unicodedata.normalize("NFC", text))


class Draw(random.Random):
    def text(self):
        kind = self.randrange(10)
        if kind < 5:
            return self.choice(TITLES)
        if kind < 7:
            return self.choice(TITLES) + " " + self.choice(TITLES)
        if kind < 9:
            return "".join(self.choice(CLUSTERS) for _ in range(self.randrange(12)))
        parts = [TITLES, CLUSTERS, list("ab ")]
        return "".join(self.choice(self.choice(parts)) for _ in range(self.randrange(4)))

    def edited(self, text):
        """A reading of the text with errors."""
        for _ in range(self.choice([0, 1, 1, 2, 3, 8])):
            parts = regex.findall(r"\X", text) if VIRAMA in text else list(text)
            kind = self.randrange(7)
            place = self.randrange(len(parts) + 1)
            if kind == 0:
                parts.insert(place, self.choice(CLUSTERS + list("xyz ")))
            elif kind == 1:
                del parts[place:place + 1]
            elif kind == 2:
                parts[place:place + 2] = parts[place:place + 2][::-1]
            elif kind == 3:
                parts[place:] = [LOOKALIKES.get(part, part) for part in parts[place:]]
            elif kind == 4:
                words = "".join(parts).split(" ")
                words.pop(self.randrange(len(words)))
                parts = [" ".join(words)]
            elif kind == 5:
                parts = [part.swapcase() for part in parts]
            else:
                parts = parts[place:] + parts[:place]
            text = "".join(parts)
        return text

    def pair(self, number):
        left = self.text()
        # One in 200 is long, and some of these too long.
        if number % 200 == 0:
            alphabet = self.choice([list("abc "), ["e\u0301", "é", "e"], CLUSTERS[:12]])
            count = self.randint(LONGEST - 60, LONGEST + 10)
            left = "".join(self.choice(alphabet) for _ in range(count))
        right = self.text() if self.random() < 0.2 else self.edited(left)
        forms = [self.choice(["", "NFC", "NFD"]) for _ in range(2)]
        return tuple(
            unicodedata.normalize(form, text) if form else text for form, text in zip(forms, (left, right)))


def main():
    draw = Draw(int(sys.argv[1]))
    pairs = {}
    while len(pairs) < int(sys.argv[2]):
        pairs[draw.pair(len(pairs))] = None
    for left, right in pairs:
        parts = clusters(left), clusters(right)
        line = {"left": left, "right": right, "length": max(map(len, parts))}
        if line["length"] <= LONGEST:
            line["distance"] = Levenshtein.distance(*parts)
            similarity = 1 - Fraction(line["distance"], line["length"] or 1)
            line["similar"] = similarity > Fraction(4, 5)
        print(json.dumps(line))


main()
