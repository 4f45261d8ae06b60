"""Sentences with a subordinate clause: because, that, if, when, although, to, who and which."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense, english_verb
from examples.demo.corpus.grammar.german import Case, GermanVerb
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import adjectives, nouns, times, verbs
from examples.demo.corpus.sentences import choices, questions, words

_WEATHER = (
    (words.simple("rain", "regnen"), Tense.PROGRESSIVE),
    (words.simple("snow", "schneien"), Tense.PROGRESSIVE),
    (words.simple("be*", "sein", Phrase("so cold", "so kalt")), Tense.PRESENT),
    (words.simple("be*", "sein", Phrase("very hot", "sehr heiß")), Tense.PRESENT),
    (words.simple("be*", "sein", Phrase("already late", "schon spät")), Tense.PRESENT),
)
_GOOD_STATES = ("happy", "healthy")
_DEGREES = (Phrase("", ""), Phrase("", ""), Phrase("very ", "sehr "), Phrase("too ", "zu "), Phrase("so ", "so "))


def hindrance(draw: Draw, subject: NounPhrase, tense: Tense = Tense.PRESENT) -> Clause:
    """Return what can keep somebody from something: a state, what somebody lacks, a duty, the weather."""
    kind = draw.below(10)
    if kind < 5:
        adjective = draw.choose([state for state in adjectives.of_class("state") if state.english not in _GOOD_STATES])
        degree = draw.choose(_DEGREES)
        return words.is_(subject, degree.english + adjective.english, degree.german + adjective.german, tense)
    if kind < 7:
        noun = draw.choose(nouns.of_class("need", "switched", "vehicle"))
        lacking = p.noun_phrase(noun, p.A if noun.english_plural else p.BARE)
        return words.has(subject, lacking, tense, negated=True)
    if kind < 8:
        weather, weather_tense = draw.choose(_WEATHER)
        return Clause(words.IT, weather, Tense.PAST if tense is Tense.PAST else weather_tense)
    return replace(choices.modal_clause(draw, subject, bare=True), modal=c.MUST, tense=tense)


_REACTIONS = (
    words.simple("go went gone", "gehen - gegangen sein", Phrase("home", "nach Hause")),
    words.simple("go went gone", "gehen - gegangen sein", Phrase("to the doctor", "zum Arzt")),
    words.simple("go went gone", "gehen - gegangen sein", Phrase("to bed", "ins Bett")),
    words.simple("stay", "bleiben - geblieben sein", Phrase("at home", "zu Hause")),
    words.simple("rest", "sich aus|ruhen"),
    words.simple("come came come +back", "zurück|kommen - zurückgekommen sein"),
    words.simple("stay", "bleiben - geblieben sein", Phrase("in bed", "im Bett")),
)


def affected(draw: Draw, subject: NounPhrase, past: bool, hindered: bool) -> Clause:
    """Return what somebody does not do because of a hindrance, or does because of it or in spite of it."""
    if hindered and draw.chance(0.25):
        said = draw.choose(_REACTIONS)
        modal = None if past else draw.choose((c.MUST, c.WANT, c.SHOULD))
        return Clause(subject, said, Tense.PAST if past else Tense.PRESENT, modal)
    if past:
        clause = choices.past_clause(draw, subject, bare=True, negated=hindered)
        return replace(clause, modal=c.CAN) if hindered and draw.chance(0.4) else clause
    maker = draw.choose((choices.future_clause, choices.modal_clause))
    clause = maker(draw, subject, bare=True, negated=hindered)
    return replace(clause, modal=draw.choose((c.CAN, c.WANT))) if clause.modal and hindered else clause


def because(draw: Draw) -> tuple[str, str]:
    """Return what a reason leads to, or what is done in spite of it."""
    english, german = draw.choose((("because", "weil"), ("because", "weil"), ("although", "obwohl")))
    past = draw.chance(0.4)
    subject = choices.person(draw)
    follower = words.again(subject)
    reason = hindrance(draw, follower, Tense.PAST if past else Tense.PRESENT)
    about_it = reason.subject is words.IT
    if draw.chance(0.6):
        main = affected(draw, subject, past, english == "because")
        return sentence(words.joined(c.statement(main), " ", ", ", words.after(english, german, c.subordinate(reason))))
    # The clause that comes first names the subject, the main clause takes it up.
    main = affected(draw, subject if about_it else follower, past, english == "because")
    clause = words.after(english, german, c.subordinate(reason if about_it else replace(reason, subject=subject)))
    return sentence(c.fronted(Phrase(clause.english, clause.german + ","), main))


_BELIEFS = (
    words.verb("think* thought", "glauben"),
    words.verb("hope*", "hoffen"),
    (english_verb("know* knew"), GermanVerb("wissen", ("weiß", "weiß", "wissen"), "gewusst", de.HABEN)),
    words.verb("say said", "sagen"),
)


def that(draw: Draw) -> tuple[str, str]:
    """Return what somebody thinks, hopes, knows or says."""
    english, german = draw.choose(_BELIEFS)
    believer = choices.person(draw)
    main = Clause(believer, Predicate(english, german), Tense.PAST if english.base == "say" else Tense.PRESENT)
    hopes = english.base == "hope"
    told = choices.any_clause(draw) if hopes or draw.chance(0.6) else hindrance(draw, choices.person(draw))
    return sentence(words.joined(c.statement(main), " that ", ", dass ", c.subordinate(told)))


_ASKED = (Phrase("where", "wo"), Phrase("when", "wann"), Phrase("why", "warum"))
_SAID = (
    Phrase("I don't know", "ich weiß nicht"),
    Phrase("can you tell me", "können Sie mir sagen"),
    Phrase("we don't know", "wir wissen nicht"),
    Phrase("do you know", "wissen Sie"),
)


def indirect_question(draw: Draw) -> tuple[str, str]:
    """Return a question inside a sentence: whether, where, when, why."""
    main = draw.choose(_SAID)
    asked = draw.choose((Phrase("whether", "ob"), Phrase("whether", "ob"), *_ASKED[1:]))
    clause = choices.any_clause(draw, questions.asked_about(draw))
    if asked.english == "when":
        clause = replace(clause, time=None)
    mark = "?" if "you" in main.english else "."
    return sentence(
        words.joined(main, " ", ", ", words.after(asked.english, asked.german, c.subordinate(clause))), mark
    )


def if_(draw: Draw) -> tuple[str, str]:
    """Return a condition: "wenn", before or after the main clause."""
    subject = choices.person(draw)
    follower = words.again(subject)
    first = draw.chance(0.5)
    named, taken_up = (subject, follower) if first else (follower, subject)
    hindered = draw.chance(0.6)
    condition = hindrance(draw, named)
    if not hindered:
        condition = replace(choices.present_clause(draw, named, bare=True), tense=Tense.PRESENT, adverb=None)
    if condition.subject is words.IT:
        taken_up = subject
    main = condition
    while main.predicate.english is condition.predicate.english:
        main = replace(affected(draw, taken_up, past=False, hindered=hindered), time=None)
    word = "if" if condition.modal or draw.chance(0.7) else "when"
    clause = words.after(word, "wenn", c.subordinate(condition))
    if first:
        return sentence(c.fronted(Phrase(clause.english, clause.german + ","), main))
    return sentence(words.joined(c.statement(main), " ", ", ", clause))


def when_past(draw: Draw) -> tuple[str, str]:
    """Return what happened when something else did, once: "als"."""
    subject = choices.person(draw)
    came = draw.choose(
        (
            words.simple("come came", "kommen - gekommen sein", Phrase("home", "nach Hause")),
            words.simple("arrive", "an|kommen - angekommen sein"),
            words.simple("be", "sein", Phrase("young", "jung")),
            words.simple("wake woke +up", "auf|wachen sein"),
            words.simple("be", "sein", Phrase("in Berlin", "in Berlin")),
            words.simple("be", "sein", Phrase("on holiday", "im Urlaub")),
            words.simple("open +the_door", "die_Tür_|öffnen - die_Tür_geöffnet"),
            words.simple("be", "sein", Phrase("ill", "krank")),
        )
    )
    clause = words.after("when", "als", c.subordinate(Clause(subject, came, Tense.PAST)))
    main = replace(choices.past_clause(draw, words.again(subject), bare=True), time=None)
    return sentence(c.fronted(Phrase(clause.english, clause.german + ","), main))


def conjunction_of_time(draw: Draw) -> tuple[str, str]:
    """Return what is done before, while, as soon as or until something else is."""
    subject = choices.person(draw)
    follower = words.again(subject)
    if draw.chance(0.3):
        waits = words.simple(*draw.choose((("wait", "warten"), ("stay +here", "hier_|bleiben - hier_geblieben sein"))))
        waiting = Clause(p.pronoun(draw.choose((Person.I, Person.WE))), waits, Tense.FUTURE)
        arrives = words.simple(
            *draw.choose((("come came", "kommen"), ("arrive", "an|kommen"), ("come came +back", "zurück|kommen")))
        )
        until = words.after("until", "bis", c.subordinate(Clause(choices.third_person(draw), arrives)))
        return sentence(words.joined(c.statement(waiting), " ", ", ", until))
    english, german = draw.choose((("before", "bevor"), ("as soon as", "sobald"), ("while", "während")))
    clause = Clause(subject, choices.predicate(draw, choices.activity(draw), subject))
    modal = draw.choose((c.MUST, c.WANT, c.CAN, c.SHOULD))
    if english == "while":
        clause, modal = replace(clause, tense=Tense.PROGRESSIVE), c.CAN
        follower = draw.choose((p.pronoun(Person.I), p.pronoun(Person.WE), choices.third_person(draw)))
    first = words.after(english, german, c.subordinate(clause))
    main = Clause(follower, choices.predicate(draw, choices.activity(draw), follower), modal=modal)
    return sentence(c.fronted(Phrase(first.english, first.german + ","), main))


def to_infinitive(draw: Draw) -> tuple[str, str]:
    """Return a sentence with "zu": what somebody tries, plans or forgot, or what is important."""
    subject = choices.person(draw)
    verb = choices.activity(draw)
    if draw.chance(0.35):
        you = p.pronoun(Person.YOU)
        adjective = draw.choose(("important", "difficult", "easy", "boring", "interesting", "expensive"))
        main = Phrase(f"it is {adjective}", f"es ist {adjectives.named(adjective).german}")
        subject = you if verb.german.reflexive else p.pronoun(Person.I)
        done = c.infinitive(Clause(subject, choices.predicate(draw, verb, subject)))
    else:
        english, german = draw.choose(
            (
                ("try", "versuchen"),
                ("plan", "planen"),
                ("hope", "hoffen"),
                ("forget forgot forgotten", "vergessen vergisst vergessen"),
                ("start", "an|fangen fängt angefangen"),
                ("promise", "versprechen verspricht versprochen"),
            )
        )
        said = words.simple(english, german)
        past = english.split()[0] not in ("plan", "hope") or draw.chance(0.3)
        tense = Tense.PAST if past else Tense.PROGRESSIVE
        time = times.past(draw) if tense is Tense.PAST and draw.chance(0.3) else None
        main = c.statement(Clause(subject, said, tense))
        if time:
            main = c.fronted(time, Clause(subject, said, tense))
        done = c.infinitive(Clause(subject, choices.predicate(draw, verb, subject)))
    return sentence(words.joined(main, " ", ", ", done))


_PURPOSES = (
    "visit",
    "meet",
    "pick up",
    "help",
    "talk to",
    "buy",
    "shop",
    "work",
    "rest",
    "learn",
    "study",
)


def in_order_to(draw: Draw) -> tuple[str, str]:
    """Return what one goes somewhere for: "um ... zu"."""
    subject = choices.person(draw)
    going = draw.choose(verbs.with_kinds("to"))
    main = Clause(
        subject, choices.predicate(draw, going, subject), Tense.PAST if draw.chance(0.5) else Tense.PROGRESSIVE
    )
    purpose = c.infinitive(Clause(subject, choices.predicate(draw, verbs.named(draw.choose(_PURPOSES)), subject)))
    return sentence(words.joined(c.statement(main), " in order ", ", um ", purpose))


def relative_object(draw: Draw) -> tuple[str, str]:
    """Return a sentence about a thing that somebody does something with: "das Buch, das ich gelesen habe"."""
    noun = draw.choose(
        nouns.of_class("clothing", "furniture", "switched", "vehicle", "reading", "gift", "show", "dish", "luggage")
    )
    plural = bool(noun.english_plural) and draw.chance(0.2)
    options = [verb for verb in verbs.with_kinds("acc") if set(verb.frame[0].classes) & set(noun.classes)]
    verb = draw.choose([verb for verb in options if not verb.english.stative])
    # Not "the coat that he put on on Monday".
    time = times.past(draw, verb.planned) if verb.english.particle != "on" and draw.chance(0.5) else None
    doing = Clause(choices.person(draw), Predicate(verb.english, verb.german), Tense.PAST, time=time)
    head = p.noun_phrase(noun, p.THE, plural=plural)
    relative = relative_clause(head, Case.ACCUSATIVE, "that", doing)
    kind = draw.below(3)
    adjective = choices.fitting_adjective(draw, noun)
    if kind == 0 and adjective is not None:
        return sentence(c.statement(words.is_(with_relative(head, relative), adjective.english, adjective.german)))
    if kind == 1:
        found = draw.choose((words.LIKE, words.verb("look +for", "suchen")))
        tense = Tense.PRESENT if found is words.LIKE else Tense.PROGRESSIVE
        clause = c.statement(Clause(choices.person(draw), Predicate(*found, accusative=head), tense))
        return sentence(words.joined(clause, " ", ", ", relative))
    where = Phrase("where are" if plural else "where is", "wo sind" if plural else "wo ist")
    asked = words.joined(where, " ", " ", words.as_phrase(head))
    return sentence(words.joined(asked, " ", ", ", relative), "?")


def relative_clause(head: NounPhrase, case: Case, english: str, clause: Clause) -> Phrase:
    """Return a relative clause in which `head` is the object, in the given case."""
    return words.after(english, de.relative_pronoun(case, head.agreement), c.subordinate(clause))


def subject_clause(head: NounPhrase, clause: Clause) -> Phrase:
    """Return a relative clause in which `head`, somebody, is the subject; the clause's own subject is not said."""
    pronoun = de.relative_pronoun(Case.NOMINATIVE, head.agreement)
    return c.subordinate(replace(clause, subject=replace(head, english="who", german=(pronoun, "", "", ""))))


def with_relative(head: NounPhrase, relative: Phrase) -> NounPhrase:
    """Return a noun phrase with a relative clause, between commas in German, as a subject."""
    german = f"{head.german[Case.NOMINATIVE]}, {relative.german},"
    return replace(head, english=f"{head.english} {relative.english}", german=(german, "", "", ""), negative=None)


def relative_subject(draw: Draw) -> tuple[str, str]:
    """Return a sentence about somebody who does something: "der Mann, der nebenan wohnt"."""
    head = p.noun_phrase(draw.choose(nouns.of_class("adult", "job", "staff", "child")), p.THE, plural=draw.chance(0.25))
    maker = draw.choose((choices.present_clause, choices.past_clause))
    relative = subject_clause(head, maker(draw, head, bare=True))
    kind = draw.below(4)
    if kind == 0:
        adjective = draw.choose(adjectives.of_class("state", "trait"))
        return sentence(c.statement(words.is_(with_relative(head, relative), adjective.english, adjective.german)))
    if kind == 1:
        known = verbs.named("know")
        asked = c.question(Clause(p.pronoun(Person.YOU), Predicate(known.english, known.german, accusative=head)))
        return sentence(words.joined(asked, " ", ", ", relative), "?")
    subject = p.pronoun(draw.choose((Person.I, Person.WE, Person.HE, Person.SHE)))
    met = verbs.named(draw.choose(("see", "meet", "help", "thank", "invite")))
    said = Predicate(met.english, met.german)
    said = replace(said, dative=head) if met.kinds == ("dat",) else replace(said, accusative=head)
    modal = draw.choose((None, None, c.WANT, c.MUST))
    clause = Clause(subject, said, Tense.PRESENT if modal else Tense.PAST, modal)
    return sentence(words.joined(c.statement(clause), " ", ", ", relative))


# What things would have to be like, and what could then be done.
_UNREAL = (
    (
        "had more time",
        "mehr Zeit hätte",
        ("read", "visit", "cook", "learn", "help", "sleep", "play", "write"),
    ),
    ("had more money", "mehr Geld hätte", ("buy", "travel", "fly", "build", "order", "book")),
    ("had a car", "ein Auto hätte", ("drive", "pick up", "visit", "bring along")),
    ("had a big garden", "einen großen Garten hätte", ("buy", "play", "build", "invite")),
    ("were rich", "reich wäre", ("buy", "travel", "fly", "build", "help")),
    ("were not so tired", "nicht so müde wäre", ("dance", "cook", "work", "play", "tidy up", "clean", "wash")),
    ("were not ill", "nicht krank wäre", ("dance", "swim", "work", "play", "travel", "visit", "repair")),
)


def would(draw: Draw) -> tuple[str, str]:
    """Return what somebody would do if things were otherwise: "hätte", "wäre", "würde"."""
    subject = choices.person(draw)
    english, german, options = draw.choose(_UNREAL)
    plural = "n" if subject.person.slot is de.Slot.SIE else ""
    condition = Phrase(f"if {subject.english} {english}", f"wenn {subject.german[0]} {german}{plural},")
    follower = words.again(subject)
    said = choices.predicate(draw, verbs.named(draw.choose(options)), follower)
    return sentence(c.fronted(condition, Clause(follower, said, modal=c.WOULD)))


CONSTRUCTIONS = (
    ("because", because, 3),
    ("that", that, 3),
    ("indirect question", indirect_question, 2),
    ("if", if_, 3),
    ("when, in the past", when_past, 2),
    ("before, while, until", conjunction_of_time, 2),
    ("to and an infinitive", to_infinitive, 2),
    ("in order to", in_order_to, 2),
    ("relative clause, object", relative_object, 2),
    ("relative clause, subject", relative_subject, 2),
    ("would", would, 2),
)
