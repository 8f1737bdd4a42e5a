"""The books of a photo: a deterministic function of its bytes, so that every upload of it finds the same."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from typing import Any

STATUSES = ("success", "review_needed", "not_found", "pending", "error", "circuit_open")
WEIGHTS = (10, 4, 2, 1, 1, 1)
FORMATS = ("hardcover", "paperback", "ebook", "audiobook")

# Half of the spines have characters that a careless backend breaks. The emoji of the four titles that have
# one begin at the same place, so that a cut after 21 UTF-16 units goes through a surrogate pair.
WORKS: tuple[tuple[str, str], ...] = (
    ("Der Zauberberg", "Thomas Mann"),
    ("Die Blechtrommel", "Günter Grass"),
    ("Über den Fluß und in die Wälder", "Ernest Hemingway"),
    ("Effi Briest", "Theodor Fontane"),
    ("L'Étranger", "Albert Camus"),
    ("À la recherche du temps perdu", "Marcel Proust"),
    ("Les Misérables", "Victor Hugo"),
    ("Cien años de soledad", "Gabriel García Márquez"),
    ("La casa de los espíritus", "Isabel Allende"),
    ("Ficciones", "Jorge Luis Borges"),
    ("Nesnesitelná lehkost bytí", "Milan Kundera"),
    ("Příliš hlučná samota", "Bohumil Hrabal"),
    ("Pippi Långstrump", "Astrid Lindgren"),
    ("Smillas fornemmelse for sne", "Peter Høeg"),
    ("Íslandsklukkan", "Halldór Laxness"),
    ("Преступление и наказание", "Фёдор Достоевский"),
    ("Мастер и Маргарита", "Михаил Булгаков"),
    ("Ὀδύσσεια", "Ὅμηρος"),
    ("吾輩は猫である", "夏目漱石"),
    ("ノルウェイの森", "村上春樹"),
    ("紅樓夢", "曹雪芹"),
    ("三体", "刘慈欣"),
    ("채식주의자", "한강"),
    ("ألف ليلة وليلة", "مجهول"),
    ("Gardening for Moons \U0001F319\U0001F331", "Ada Brightwell"),
    ("The Tiny Joy Manual \U0001F600", "Søren Glæde"),
    ("Baking With Grandma \U0001F950\U0001F35E", "Zoë O'Hara"),
    ("Bicycles of the Sea \U0001F6B2", "Ines Ibáñez"),
    ('The "Good" Soldier Švejk', "Jaroslav Hašek"),
    ("Zen & the Art of Motorcycle Maintenance", "Robert M. Pirsig"),
    ("Structure <and> Interpretation", "Harold Abelson & Gerald Jay Sussman"),
    ('"Surely You\'re Joking, Mr. Feynman!"', "Richard P. Feynman"),
    ("C:\\Users\\Me\\Diary", "N. Backslash"),
    ("100% Wool; or, Knitting + Logic", "Róisín Ní Dhomhnaill"),
    ("The Left Hand of Darkness", "Ursula K. Le Guin"),
    ("Things Fall Apart", "Chinua Achebe"),
    ("Middlemarch", "George Eliot"),
    ("Invisible Cities", "Italo Calvino"),
    ("The Master of Go", "Yasunari Kawabata"),
    ("Beloved", "Toni Morrison"),
    ("Dune", "Frank Herbert"),
    ("Kindred", "Octavia E. Butler"),
    ("Moby-Dick; or, The Whale", "Herman Melville"),
    ("The Periodic Table", "Primo Levi"),
)
EDITIONS = ("", " (2nd edition)", ", vol. 2", ": annotated")


@dataclass(frozen=True)
class Book:
    """One book, with what a lookup adds to the words on its spine."""

    title: str
    author: str
    isbn: str | None
    confidence: float
    status: str
    cover: str | None
    publisher: str
    published: str
    pages: int
    binding: str

    def lite(self) -> dict[str, Any]:
        """Return the six fields that inline books and lite results have."""
        return {"title": self.title, "author": self.author, "isbn": self.isbn, "confidence": self.confidence,
                "enrichmentStatus": self.status, "coverUrl": self.cover}

    def full(self) -> dict[str, Any]:
        """Return the six fields and the four optional ones of full results."""
        return {**self.lite(), "publisher": self.publisher, "publishedDate": self.published,
                "pageCount": self.pages, "format": self.binding}

    def key(self) -> str:
        """Return what makes two books the same: the ISBN, otherwise title and author."""
        return self.isbn or f"{self.title}\n{self.author}"


def check_digit(twelve: str) -> str:
    """Return the check digit of the first twelve digits of an ISBN-13."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(twelve))
    return str(-total % 10)


def valid_isbn(text: str) -> bool:
    """Tell whether the text is an ISBN-13 or ISBN-10 with the right check digit."""
    if len(text) == 13 and text.isdigit():
        return text[:3] in ("978", "979") and check_digit(text[:12]) == text[12]
    if len(text) == 10 and text[:9].isdigit() and (text[9].isdigit() or text[9] == "X"):
        digits = [int(digit) for digit in text[:9]] + [10 if text[9] == "X" else int(text[9])]
        return sum((10 - place) * digit for place, digit in enumerate(digits)) % 11 == 0
    return False


def isbn13(text: str) -> str:
    """Return a valid ISBN with thirteen digits."""
    if len(text) == 13:
        return text
    return f"978{text[:9]}" + check_digit(f"978{text[:9]}")


def make(title: str, author: str, salt: bytes) -> Book:
    """Return the book with this spine; its ISBN depends on the spine alone, the lookup on the salt."""
    spine = hashlib.sha256(f"{title}\n{author}".encode()).digest()
    twelve = "978" + str(int.from_bytes(spine[:8], "big") % 10**9).zfill(9)
    dice = random.Random(salt + spine)
    status = dice.choices(STATUSES, WEIGHTS)[0]
    # Whether there is an ISBN depends on the spine, so that two photos agree about a book.
    isbn = twelve + check_digit(twelve) if spine[8] % 5 else None
    cover = f"https://covers.example.org/{isbn}.jpg" if isbn and status == "success" else None
    return Book(title, author, isbn, round(dice.uniform(0.55, 0.99), 2), status, cover,
                dice.choice(("Suhrkamp", "Gallimard", "Penguin", "岩波書店")), str(dice.randint(1925, 2025)),
                dice.randint(90, 900), dice.choice(FORMATS))


def of_photo(photo: bytes, few: tuple[int, int] = (1, 12), big: float = 0.2) -> list[Book]:
    """Return the books of one photo; a share of `big` of all photos has 41 to 60 books."""
    digest = hashlib.sha256(photo).digest()
    dice = random.Random(digest)
    count = dice.randint(41, 60) if dice.random() < big else dice.randint(*few)
    spines = [(title + edition, author) for title, author in WORKS for edition in EDITIONS]
    return [make(title, author, digest) for title, author in dice.sample(spines, min(count, len(spines)))]


def of_photos(photos: list[bytes], few: tuple[int, int] = (1, 12), big: float = 0.2) -> list[Book]:
    """Return the different books of all photos of a job, in the order in which they are found."""
    found: dict[str, Book] = {}
    for photo in photos:
        for book in of_photo(photo, few, big):
            found.setdefault(book.key(), book)
    return list(found.values())


def of_isbn(isbn: str) -> Book | None:
    """Return the book that a lookup of this ISBN finds; one in ten is unknown."""
    digest = hashlib.sha256(isbn.encode()).digest()
    if digest[0] % 10 == 0:
        return None
    title, author = WORKS[int.from_bytes(digest[1:3], "big") % len(WORKS)]
    return looked_up(make(title, author, digest), isbn13(isbn))


def looked_up(book: Book, isbn: str | None) -> Book:
    """Return the book as a successful lookup gives it."""
    return replace(book, isbn=isbn, status="success", confidence=0.95,
                   cover=f"https://covers.example.org/{isbn}.jpg" if isbn else None)
