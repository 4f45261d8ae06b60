"""What people and things are like: adjectives, comparisons, professions, families, possession."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.german import Case
from examples.demo.corpus.grammar.phrases import Adjective, NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import adjectives, nouns, places, times, verbs
from examples.demo.corpus.sentences import choices, questions, words

_DEGREES = (Phrase("", ""), Phrase("", ""), words.VERY, words.VERY, Phrase("not very", "nicht sehr"))
# What one likes a thing for, and what there can be too much of.
_PRAISE = frozenset(
    ("beautiful", "good", "interesting", "comfortable", "modern", "new", "cheap", "warm", "quiet", "clean")
)
_BLAME = frozenset(
    ("big", "small", "old", "expensive", "heavy", "long", "short", "boring", "dark", "dirty", "difficult")
)
_THINGS = (
    "clothing",
    "furniture",
    "device",
    "vehicle",
    "reading",
    "show",
    "room",
    "home",
    "food",
    "event",
    "eatery",
    "luggage",
)


def predicative(draw: Draw) -> tuple[str, str]:
    """Return how a thing is."""
    noun = draw.choose(nouns.of_class(*_THINGS))
    plural = bool(noun.english_plural) and draw.chance(0.25)
    determiner = draw.choose((p.THE, p.THE, p.THIS))
    if {"clothing", "furniture", "device", "vehicle", "home", "room"} & set(noun.classes) and draw.chance(0.4):
        determiner = p.possessive(draw.choose(choices.OWNERS))
    subject = p.noun_phrase(noun, determiner, plural=plural)
    adjective = choices.fitting_adjective(draw, noun)
    assert adjective is not None, noun
    degree = Phrase("", "") if "colour" in adjective.classes else draw.choose(_DEGREES)
    if adjective.english in _BLAME and draw.chance(0.4):
        degree = words.TOO
    said = _graded(degree, adjective)
    tense = Tense.PAST if draw.chance(0.25) else Tense.PRESENT
    clause = words.is_(subject, said.english, said.german, tense)
    return sentence(c.question(clause), "?") if draw.chance(0.2) else sentence(c.statement(clause))


def _graded(degree: Phrase, adjective: Adjective) -> Phrase:
    return Phrase(f"{degree.english} {adjective.english}".strip(), f"{degree.german} {adjective.german}".strip())


def feeling(draw: Draw) -> tuple[str, str]:
    """Return how somebody is or feels."""
    asked = draw.chance(0.25)
    subject = questions.asked_about(draw) if asked else choices.person(draw)
    adjective = draw.choose(adjectives.of_class("state", "trait"))
    degrees: tuple[Phrase, ...] = (Phrase("", ""), words.VERY, Phrase("so", "so"), Phrase("really", "wirklich"))
    state = "state" in adjective.classes
    denied = not asked and draw.chance(0.2)
    if state and not denied:
        degrees = (*degrees, Phrase("a little", "ein bisschen"))
    said = _graded(draw.choose(degrees), adjective)
    time, tense = None, draw.choose((Tense.PRESENT, Tense.PRESENT, Tense.PAST))
    if state and draw.chance(0.5):
        time = times.NOW[1] if tense is Tense.PRESENT else times.past(draw)
    clause = words.is_(subject, said.english, said.german, tense, denied)
    clause = replace(clause, time=time)
    return sentence(c.question(clause), "?") if asked else sentence(c.statement(clause))


_COMPARED = ("big", "small", "old", "new", "expensive", "cheap", "heavy", "modern", "comfortable", "beautiful")
_COMPARED_PEOPLE = ("old", "young", "tall", "nice", "friendly", "clever", "lazy", "rich", "happy")


def _two(draw: Draw) -> tuple[NounPhrase, NounPhrase, Adjective]:
    """Return two people or two things, and an adjective that both can be compared by."""
    if draw.chance(0.4):
        first, second = choices.person(draw), choices.third_person(draw)
        while first.key == second.key:
            second = choices.third_person(draw)
        return first, second, adjectives.named(draw.choose(_COMPARED_PEOPLE))
    adjective = adjectives.named(draw.choose(_COMPARED))
    fitting = draw.choose(
        [name for name in ("clothing", "furniture", "device", "vehicle") if name in adjective.classes] or ["luggage"]
    )
    options = list(nouns.of_class(fitting))
    draw.shuffle(options)
    first_owner, second_owner = draw.choose(choices.OWNERS), draw.choose(choices.OWNERS)
    if draw.chance(0.5):
        return p.noun_phrase(options[0], p.THE), p.noun_phrase(options[1], p.THE), adjective
    return (
        p.noun_phrase(options[0], p.possessive(first_owner)),
        p.noun_phrase(options[1], p.possessive(second_owner)),
        adjective,
    )


def comparison(draw: Draw) -> tuple[str, str]:
    """Return a comparison: "größer als", "so groß wie"."""
    first, second, adjective = _two(draw)
    other = second.german[Case.NOMINATIVE]
    kind = draw.below(4)
    if kind == 0:
        return _said_of(first, f"as {adjective.english} as {second.english}", f"so {adjective.german} wie {other}")
    if kind == 1:
        return _said_of(
            first, f"not as {adjective.english} as {second.english}", f"nicht so {adjective.german} wie {other}"
        )
    much = draw.choose((Phrase("", ""), Phrase("", ""), Phrase("much ", "viel "), Phrase("a little ", "ein bisschen ")))
    return _said_of(
        first,
        f"{much.english}{adjective.english_comparative} than {second.english}",
        f"{much.german}{adjective.german_comparative} als {other}",
    )


def _said_of(subject: NounPhrase, english: str, german: str) -> tuple[str, str]:
    return sentence(c.statement(words.is_(subject, english, german)))


def superlative(draw: Draw) -> tuple[str, str]:
    """Return a sentence with a superlative or comparative before its noun: "das teuerste Auto", "ein größeres Auto"."""
    noun = draw.choose(nouns.of_class("clothing", "furniture", "vehicle", "home", "reading", "device", "luggage"))
    adjective = choices.fitting_adjective(draw, noun)
    while adjective is None or adjective.english == "empty" or "colour" in adjective.classes:
        adjective = choices.fitting_adjective(draw, noun)
    subject = choices.person(draw)
    if draw.chance(0.5):
        more = replace(adjective, english=adjective.english_comparative, stem=adjective.german_comparative)
        wants = verbs.named(draw.choose(("need", "look for", "buy")))
        thing = p.noun_phrase(noun, p.A, more)
        modal = draw.choose((c.WANT, c.MUST, c.WOULD_LIKE)) if wants.english.base == "buy" else None
        tense = Tense.PRESENT if wants.english.base == "need" or modal else Tense.PROGRESSIVE
        return sentence(
            c.statement(Clause(subject, Predicate(wants.english, wants.german, accusative=thing), tense, modal))
        )
    most = replace(adjective, english=adjective.english_superlative, stem=adjective.german_superlative)
    thing = p.noun_phrase(noun, p.THE, most)
    if draw.chance(0.4):
        kind = p.noun_phrase(noun, p.THIS)
        return _said_of(kind, thing.english, thing.german[Case.NOMINATIVE])
    bought = verbs.named("buy")
    return sentence(
        c.statement(
            Clause(
                subject, Predicate(bought.english, bought.german, accusative=thing), Tense.PAST, time=times.past(draw)
            )
        )
    )


def profession(draw: Draw) -> tuple[str, str]:
    """Return what somebody is or wants to become; German has no article here."""
    noun = draw.choose([noun for noun in nouns.of_class("job") if noun.feminine])
    subject = choices.third_person(draw) if draw.chance(0.6) else p.pronoun(draw.choose((Person.HE, Person.SHE)))
    english = p.noun_phrase(noun, p.A).english
    name = Phrase(english, words.profession(noun, subject))
    kind = draw.below(4)
    if kind == 0:
        becoming = Predicate(*words.BECOME, complement=name)
        return sentence(c.statement(Clause(subject, becoming, modal=draw.choose((c.WANT, c.WOULD_LIKE, c.CAN)))))
    clause = words.is_(subject, name.english, name.german)
    if kind == 1:
        gender = de.Agreement.FEMININE if subject.person is Person.SHE else de.Agreement.MASCULINE
        denied = f"{de.article('kein', 'ein', Case.NOMINATIVE, gender)} {name.german}"
        return sentence(
            Phrase(
                c.statement(replace(clause, negated=True)).english, c.statement(words.is_(subject, "", denied)).german
            )
        )
    if kind == 2:
        place = draw.choose(places.locations("city"))
        works = words.simple("work", "arbeiten", place)
        second = Clause(words.again(subject), works)
        return sentence(words.joined(c.statement(clause), " and ", " und ", c.statement(second)))
    return sentence(c.statement(clause))


def age(draw: Draw) -> tuple[str, str]:
    """Return how old somebody or something is."""
    kind = draw.below(4)
    if kind == 0:
        subject, oldest = p.noun_phrase(draw.choose(nouns.of_class("vehicle", "furniture", "pet")), p.THE), 15
    elif kind == 1:
        subject, oldest = choices.relative(draw, "young"), 30
    else:
        subject, oldest = choices.third_person(draw) if kind == 2 else choices.person(draw), 95
    count = draw.between(20 if oldest > 30 else 2, oldest)
    years = numbers.number_words(count) if draw.chance(0.7) else Phrase(str(count), str(count))
    clause = words.is_(subject, f"{years.english} years old", f"{years.german} Jahre alt")
    return sentence(c.statement(clause))


def belonging(draw: Draw) -> tuple[str, str]:
    """Return whose something is: "gehören" with the dative, or a genitive."""
    noun = draw.choose(nouns.of_class("vehicle", "clothing", "luggage", "possession", "pet", "reading"))
    owner = choices.third_person(draw)
    thing = p.noun_phrase(noun, p.THE)
    if draw.chance(0.4):
        receiver = (
            p.pronoun(draw.choose((Person.I, Person.HE, Person.SHE, Person.WE, Person.THEY)))
            if draw.chance(0.3)
            else owner
        )
        said = Predicate(*words.verb("belong*", "gehören"), dative=receiver, dative_with_to=True)
        clause = Clause(thing if draw.chance(0.5) else p.noun_phrase(noun, p.THIS), said, negated=draw.chance(0.15))
        return sentence(c.question(clause), "?") if draw.chance(0.25) else sentence(c.statement(clause))
    owned = _owned_by(thing, owner)
    adjective = choices.fitting_adjective(draw, noun)
    if adjective and draw.chance(0.5):
        return sentence(c.statement(words.is_(owned, adjective.english, adjective.german)))
    verb = draw.choose([verb for verb in verbs.with_kinds("acc") if set(verb.frame[0].classes) & set(noun.classes)])
    tense = Tense.PRESENT if verb.english.stative else Tense.PAST
    return sentence(
        c.statement(Clause(choices.person(draw), Predicate(verb.english, verb.german, accusative=owned), tense))
    )


def _owned_by(thing: NounPhrase, owner: NounPhrase) -> NounPhrase:
    """Return "my brother's car" / "das Auto meines Bruders", but "Anna's car" / "Annas Auto"."""
    if owner in places.FIRST_NAMES or owner in places.SURNAMES:
        name = owner.german[Case.GENITIVE]
        bare = [form.split(" ", 1)[1] for form in thing.german]
        forms = [f"{name} {form}" for form in bare]
        english = f"{owner.english}'s {thing.english.removeprefix('the ')}"
        return replace(thing, english=english, german=(forms[0], forms[1], forms[2], forms[3]))
    return p.genitive(thing, owner)


def family(draw: Draw) -> tuple[str, str]:
    """Return whom or what somebody has: counted relatives, pets, things."""
    subject = choices.person(draw)
    first, second = _some_of(draw, ("several",)), _some_of(draw, ("several", "pet"))
    if draw.chance(0.4):
        first, second = (
            _some_of(draw, ("pet", "vehicle", "switched")),
            _some_of(draw, ("pet", "vehicle", "device", "luggage")),
        )
    if first.key == second.key or draw.chance(0.35):
        if draw.chance(0.25):
            return sentence(c.question(words.has(questions.asked_about(draw), first)), "?")
        return sentence(c.statement(words.has(subject, first, negated=first.negative is not None and draw.chance(0.3))))
    together = [f"{one} und {other}" for one, other in zip(first.german, second.german, strict=True)]
    pair = replace(
        first,
        english=f"{first.english} and {second.english}",
        german=(together[0], together[1], together[2], together[3]),
        negative=None,
    )
    return sentence(c.statement(words.has(subject, pair)))


def _some_of(draw: Draw, classes: tuple[str, ...]) -> NounPhrase:
    noun = draw.choose(nouns.of_class(*classes))
    if draw.chance(0.5):
        return choices.described(draw, noun, p.A, 0.3)
    return p.noun_phrase(noun, p.counted(numbers.number_words(draw.between(2, 5))), plural=True)


def liking(draw: Draw) -> tuple[str, str]:
    """Return what somebody likes, and perhaps what is wrong with it: its pronoun has the German noun's gender."""
    subject = choices.person(draw)
    if draw.chance(0.2):
        return _liking_in_general(draw, subject)
    noun = draw.choose(
        nouns.of_class("clothing", "furniture", "device", "vehicle", "reading", "home", "show", "eatery")
    )
    plural = draw.chance(0.2)
    reasoned = draw.chance(0.75)
    determiner = draw.choose((p.THE, p.THE, p.THIS))
    liked = choices.described(draw, noun, determiner, 0.0 if reasoned else 0.4, plural)
    clause = Clause(subject, Predicate(*words.LIKE, accusative=liked), negated=draw.chance(0.3))
    if not reasoned:
        return sentence(c.statement(clause))
    pleased = not clause.negated and draw.chance(0.5)
    options = [
        option for option in adjectives.of_class(*noun.classes) if option.english in (_PRAISE if pleased else _BLAME)
    ]
    graded = _graded(words.VERY if pleased else words.TOO, draw.choose(options))
    reason = words.is_(p.pronoun_for(liked), graded.english, graded.german)
    if clause.negated or pleased:
        return sentence(words.joined(c.statement(clause), " because ", ", weil ", c.subordinate(reason)))
    return sentence(words.joined(c.statement(clause), ", but ", ", aber ", c.statement(reason)))


def _liking_in_general(draw: Draw, subject: NounPhrase) -> tuple[str, str]:
    """Return that somebody likes music, or cherries."""
    noun = draw.choose(nouns.of_class("interest", "food", "drink", "fruit-plural"))
    liked = Predicate(*words.LIKE, accusative=p.noun_phrase(noun, p.BARE, plural=bool(noun.english_plural)))
    if draw.chance(0.3):
        return sentence(c.question(Clause(questions.asked_about(draw), liked)), "?")
    return sentence(c.statement(Clause(subject, liked, negated=draw.chance(0.3))))


_PASTIMES = (
    "eat",
    "drink",
    "read",
    "cook",
    "play",
    "swim",
    "dance",
    "sing",
    "watch TV",
    "go for a walk",
    "travel",
    "sleep",
    "wear",
    "bake",
)


def pastime(draw: Draw) -> tuple[str, str]:
    """Return what somebody likes to do, or would rather do: "gern", "lieber"."""
    verb = verbs.named(draw.choose(_PASTIMES))
    said = Predicate(verb.english, verb.german)
    kinds = verb.kinds
    if kinds == ("acc",):
        noun = draw.choose(nouns.of_class(*verb.frame[0].classes))
        said = replace(said, accusative=choices.described(draw, noun, p.BARE, 0.25, plural=bool(noun.english_plural)))
    elif kinds != ("none",):
        said = choices.predicate(draw, verb, p.pronoun(Person.I))
    asked = draw.chance(0.2)
    subject = questions.asked_about(draw) if asked else choices.person(draw)
    english, german = draw.choose((("like*", "gern"), ("like*", "gern"), ("prefer*", "lieber")))
    where = choices.place(draw, verb, 0.4) if verb.kinds == ("none",) else None
    likes = c.modal(english, "to", "- - -")
    negated = english == "like*" and not asked and draw.chance(0.2)
    plain = Clause(subject, said, place=where)
    build = c.question if asked else c.statement
    in_english = build(replace(plain, modal=likes, negated=negated)).english
    adverb = Phrase("", f"nicht {german}" if negated else german)
    in_german = build(replace(plain, adverb=adverb)).german
    return sentence(Phrase(in_english, in_german), "?" if asked else ".")


CONSTRUCTIONS = (
    ("how a thing is", predicative, 2),
    ("how somebody is", feeling, 2),
    ("comparison", comparison, 2),
    ("superlative", superlative, 2),
    ("profession", profession, 2),
    ("age", age, 2),
    ("belonging", belonging, 2),
    ("family", family, 2),
    ("liking", liking, 3),
    ("pastime", pastime, 2),
)
