"""Writes plain English sentences of everyday life, the text that `make demo` lets the teacher translate.

    python -m examples.demo.sentences --lines 20000 --seed 1 sentences.en

A sentence is a pattern whose slots, such as `{place}`, are replaced by a random phrase of that name, which may have
slots itself. `{activity:past}` puts the verb that begins the phrase into another form.
"""

import argparse
import random
import re
from pathlib import Path

# Verbs that do not follow the rules of `form_of`: base, past, participle and -ing, if they differ from the rules.
IRREGULAR = """
become became become, begin began begun beginning, break broke broken, bring brought, build built, buy bought
catch caught, choose chose chosen, come came come, cut cut cut cutting, die died died dying, do did done
draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, find found
forget forgot forgotten forgetting, get got gotten getting, give gave given, go went gone, grow grew grown, have had
hear heard, hide hid hidden, keep kept, know knew known, leave left, lend lent, lie lied lied lying, lose lost
make made, meet met, pay paid, plan planned planned planning, put put put putting, read read, run ran run running
say said, see saw seen seeing, sell sold, send sent, sing sang sung, sit sat sat sitting, sleep slept
speak spoke spoken, spend spent, steal stole stolen, stop stopped stopped stopping, swim swam swum swimming
take took taken, teach taught, tell told, think thought, throw threw thrown, understand understood, wake woke woken
wear wore worn, win won won winning, write wrote written
"""

# Phrases of each slot: separated by commas, or by semicolons and ends of lines.
PHRASES = {
    "they": """
I, I, you, you, we, we, they, my parents, our friends, the children, Tom and Mary, my colleagues, the students
most people
""",
    "he": """
he, he, he, she, she, she, Tom, Tom, Mary, my brother, my sister, my father, my mother, our neighbor, the teacher
the doctor, my friend, my son, my daughter, his wife, her husband, the boy, the girl, the woman, the man, my boss
my uncle, everyone, somebody, nobody, that man, the old man, this woman, the baby, the driver, his girlfriend
her boyfriend, the policeman, John
""",
    "someone": "{they}, {he}, {he}",
    "him": """
me, me, you, him, him, her, us, them, Tom, Mary, my brother, my sister, my friend, his father, her mother, the children
someone, the teacher, the neighbors, my grandmother, my wife, the doctor, everyone, anybody, her boyfriend, the police
our guests, myself
""",
    "my": "my, your, his, her, our, their, my, his, Tom's, Mary's, my father's",
    "his": "his, her, my, your, their",
    "thing": """
book, car, bicycle, computer, phone, letter, key, bag, suitcase, camera, umbrella, watch, ticket, newspaper, picture
map, chair, table, lamp, knife, cup, glass, bottle, box, pen, coat, hat, shirt, dress, present, dictionary, song, word
question, answer, bed, story, name, room, house, door, window, problem, mistake, idea, plan, dream, job, game, movie
boat, desk, bridge, tree, flower, garden, team, tie, jacket, radio, television, piece of paper, pencil, clock, wallet
""",
    "things": """
books, keys, shoes, tickets, flowers, stamps, pictures, letters, gloves, glasses, clothes, toys, postcards, questions
mistakes, children, friends, socks, trees, cats, dogs, stories, songs, students, girls, boys, women, men, people
languages, cars, words
""",
    "quality": """
new, old, small, big, red, blue, green, black, white, good, cheap, expensive, beautiful, heavy, broken, wrong, right
important, nice, great, interesting, boring, difficult, easy, long, short, different, strange, terrible, wonderful
dirty, clean, useful, simple, famous, dangerous, large, perfect, real, empty, free, bad, pretty, funny, strong, dry, wet
""",
    "mood": """
happy, tired, hungry, thirsty, sick, busy, angry, sad, late, nervous, afraid, alone, ready, rich, young, very tired
too old, dead, so happy, not hungry, not ready, surprised, disappointed, proud, lazy, polite, friendly, famous, at home
still asleep, married, always busy, in trouble, sure, worried, wrong, right, quiet, strong, poor, crazy, bored, hurt
serious, honest, careful, drunk, smart, stupid, kind, lucky, interested in {topic}, good at {sport}, afraid of {animal}s
satisfied, in love, healthy, lonely
""",
    "food": """
bread, fish, meat, rice, soup, cheese, an apple, an egg, a sandwich, some cake, pizza, ice cream, vegetables, potatoes
salt, chocolate, fruit, an orange, salad, breakfast, lunch, dinner, strawberries, something, apples, eggs, butter, sugar
""",
    "drink": "coffee, tea, water, milk, beer, wine, a cup of coffee, a glass of water, orange juice, some tea",
    "place": """
station, train station, hotel, hospital, school, library, park, airport, bank, post office, museum, supermarket
restaurant, beach, cinema, market, church, office, city, village, zoo, pharmacy, bus stop, theater, sea, river, mountain
university, party, store, bridge, toilet, concert, police station, other side of the street, lake, meeting, forest, shop
swimming pool, hall, farm
""",
    "town": "Berlin, Paris, London, Boston, Tokyo, Rome, Vienna, Australia, Germany, France, Italy, Japan, Canada",
    "language": "English, German, French, Spanish, Japanese, Italian, Russian, Chinese",
    "animal": "dog, cat, horse, bird, rabbit, cow, mouse, snake",
    "relative": """
brother, sister, father, mother, uncle, aunt, grandfather, grandmother, son, daughter, friend, cousin, wife, dog
""",
    "job": """
teacher, doctor, student, nurse, lawyer, engineer, cook, pilot, farmer, police officer, writer, musician, good singer
artist, dentist, child, famous actress, very good driver, fool, genius, nice person, good friend of mine, strong man
""",
    "room": """
kitchen, garden, bedroom, bathroom, living room, cellar, car, house, box, street, classroom, water, corner, sky
""",
    "number": """
two, three, four, five, six, seven, ten, twelve, twenty, thirty, a hundred, many, a few, some, several, no, too many
""",
    "count": "two, three, four, five, six, ten, fifteen, thirty, a few",
    "hour": """
seven o'clock, eight o'clock, half past nine, ten o'clock, noon, midnight, 2:30, three o'clock, six o'clock
a quarter to five
""",
    "day": """
Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, Christmas, my birthday
""",
    "once": """
yesterday, last night, last week, last year, this morning, on {day}, {count} days ago, a week ago, yesterday evening
last summer, {count} years ago, a long time ago, again, the day before yesterday, in 2013, two hours ago
yesterday afternoon, this time, last month
""",
    "soon": """
tomorrow, tonight, next week, next year, on {day}, tomorrow morning, in {count} days, this evening, soon, after school
next month, at {hour}, now, right now, today, again, before {hour}, this afternoon, by tomorrow, the day after tomorrow
as soon as possible
""",
    "often": """
every day, every morning, every evening, once a week, in summer, in winter, very often, at night, all day, all the time
a lot, together, too much, every year, twice a week, from time to time, for {count} hours, alone, quickly, slowly
very well, with {him}
""",
    "always": "always, never, often, usually, sometimes, still, really, just, also, probably",
    "sky": "cold, hot, warm, windy, dark, sunny, cloudy, so cold, too hot, very quiet",
    "sport": "tennis, football, the piano, the guitar, chess, baseball, cards, basketball, golf, soccer",
    "topic": """
music, history, the weather, the book, politics, the accident, the problem, sports, the party, the news, everything, art
work, nothing, that, money, love, the future, his health, the war, my family, it, this, the plan, science, your idea
""",
    "object": """
{my} {thing}, the {thing}, a {thing}, a {quality} {thing}, the {quality} {thing}, {things}, {number} {things}, it, that
this, nothing, something, everything, this {thing}, another {thing}, one of {my} {things}, all the {things}
{my} {things}, these {things}, them
""",
    "where": """
at home, at the {place}, in the {place}, here, there, in the {room}, in {town}, near the {place}, upstairs, outside
abroad, at work, in front of the {place}, in bed, next to {him}, with {him}, behind the house, in the country, at school
over there, under the table
""",
    "activity": """
buy {object}; buy {object}; buy {food}; sell {my} {thing}; lose {my} {thing}; find {my} {thing}; look for {object}
read {object}; read {him} a story; write a letter; write a letter to {him}; use {object}; eat {food}; eat {food} {where}
drink {drink}; cook {food}; make {food}; wash the dishes; clean the {room}; clean {my} shoes; go to the {place}
go to {town}; go to bed; go home; go to school; go to work; go for a walk; go shopping; go out; go; come home
travel to {town}; drive to work; take the bus; take the train; take a taxi; come here; walk to the {place}
run to the {place}; arrive at the {place}; leave the house; wait for {him}; wait for the bus; meet {him} {where}
see {him}; help {him}; call {him}; visit {him}; invite {him} to dinner; ask {him} for help; know {him}; see {object}
ask {him} a question; tell {him} the truth; tell {him} a story; give {him} {object}; give {him} a {thing}
show {him} the way; bring {him} {object}; bring {him} {drink}; thank {him}; speak {language}; learn {language}
study {language}; teach {him} {language}; talk about {topic}; talk to {him}; listen to music; listen to the radio
listen to {him}; watch TV; think about {topic}; watch a movie; play {sport}; play with the {animal}; sing a song
dance with {him}; swim in the lake; think so; live {where}; live in {town}; stay {where}; sleep well; sleep on the sofa
sit in the {room}; get up early; get up at {hour}; wear a {quality} {thing}; open the window; open the door
close the window; close the door; lock the door; wake up; turn on the light; turn off the radio; turn on the heating
pay the bill; pay for {food}; spend a lot of money; save money; die; grow up; need {object}; need help; need more time
want {object}; want {food}; like {food}; like {drink}; like {object}; love {him}; like {topic}; hate {food}
have a {animal}; have a {thing}; have {number} {things}; have a headache; have a cold; have a good idea
have a lot of work; have no money; have no time; take a picture of {him}; take a shower; learn to swim; draw a picture
hurry; paint the house; repair {my} {thing}; build a house; plant a tree; feed the {animal}; forget {my} {thing}
forget {his} name; break {my} leg; cut the bread; plan a trip; smoke; cry; laugh; dream about {him}; catch a cold
catch the train; miss the bus; stop working; finish {my} homework; do {my} homework; pass the exam; answer the question
understand the question; remember {him}; believe {him}; trust {him}; marry {him}; hear a noise; hear the news
put the {thing} on the table; do that; do it; say that; say something; say nothing; feel {mood}; become {mood}
keep {my} {thing}; change {my} mind; make a mistake; lie to {him}; kill {him}; hurt {him}; send {him} a {thing}
lend {him} {my} {thing}; steal {object}; hide {object}; break {object}; worry about {him}; take care of {him}
win the game; lose the game; fall asleep; begin to {activity}; decide to {activity}; choose {object}; agree with {him}
solve the problem; explain {object} to {him}; understand {object}; throw {object} away; carry {object}; wash {my} hands
follow {him}; join {him}; accept {object}; return to {town}; move to {town}; kiss {him}; enjoy {object}
""",
}

PATTERNS = """
{they} {activity} {often}. / {he} {activity:s} {often}. / {they} {always} {activity}. / {he} {always} {activity:s}.
{they} don't {activity}. / Do {they} {activity}? / Do you {always} {activity}? / {someone} {activity:past} {once}.
{someone} {activity:past} {once}. / {once}, {someone} {activity:past}. / {someone} didn't {activity}.
Did {someone} {activity} {once}? / Did {someone} {activity}? / Did you {activity}? / {someone} never {activity:past}.
Why didn't {someone} {activity}? / {someone} didn't want to {activity}. / {someone} will {activity} {soon}.
{someone} will {activity}. / Will {someone} {activity} {soon}? / I'm {activity:ing}. / {he} is {activity:ing}.
They're {activity:ing}. / Are you {activity:ing}? / What is {he} doing {where}? / We're going to {activity} {soon}.
I'm not going to {activity}. / {he} was {activity:ing} {once}. / I've already {activity:participle}.
Have you ever {activity:participle}? / We've never {activity:participle}. / I haven't {activity:participle} yet.
{he} hasn't {activity:participle}. / {someone} could {activity}. / {someone} couldn't {activity}.
{someone} can {activity}. / {someone} can't {activity}. / Can you {activity}? / Could you {activity}, please?
Can {he} {activity}? / {someone} must {activity} {soon}. / {someone} should {activity}. / You should {activity} {soon}.
You must not {activity}. / May I {activity}? / {someone} may {activity} {soon}. / {someone} would {activity}.
You shouldn't {activity}. / You'd better {activity}. / {they} have to {activity} {soon}. / {he} has to {activity}.
{he} wants to {activity} {soon}. / Shall we {activity}? / I'd like to {activity}. / Would you like to {activity}?
I'd like {food}, please. / I'd like {drink}, please. / Let's {activity}. / {someone} wanted to {activity}.
{someone} had to {activity}. / {he} seems to {activity}. / Please {activity}. / Don't {activity}. / {activity}, please.
Please help me {activity}. / It's {quality} to {activity}. / {he} told me to {activity}. / I asked {him} to {activity}.
I saw {him} {activity}. / {he} made {him} {activity}. / I want you to {activity}. / Where's the {place}?
Where is the {place}, please? / Where is {my} {thing}? / Where are {my} {things}? / Where do {they} live?
Excuse me, where is the {place}? / How do I get to the {place}? / How far is it to the {place}?
Is there a {place} near here? / The {place} is near the {place}. / The {place} is closed on {day}.
The {place} opens at {hour}. / The train to {town} leaves at {hour}. / When does the {place} open?
When does the train arrive? / When did {someone} {activity}? / Why did {someone} {activity}? / Why don't you {activity}?
Why do {they} {activity}? / Why is {he} {mood}? / Why are you {mood}? / What did {someone} buy {once}?
What do you want to eat? / What's that? / Who is {he}? / Who {activity:past} {once}? / Whose {thing} is this?
What happened {once}? / What are you {activity:ing}? / What do you think about {topic}?
Which {thing} do you like best? / How much is this {thing}? / How much does the {thing} cost?
How many {things} do you have? / How old is {he}? / I'm {mood}. / You're {mood}. / {he} is {mood}.
{he} was {mood} {once}. / Are you {mood}? / Is {he} {mood}? / She's {mood}. / I'm not {mood}. / {he} isn't {mood}.
{he} wasn't {mood}. / He's {mood}. / I've been {mood}. / {he} is a {job}. / {he} wants to become a {job}.
{he} works as a {job} in {town}. / This is {my} {thing}. / This {thing} is {quality}. / That {thing} is too {quality}.
The {thing} is {quality}. / {my} {thing} is very {quality}. / These {things} are {quality}.
{my} {things} are {quality}. / Is this your {thing}? / That's {quality}. / There is a {thing} on the table.
There is a {animal} in the {room}. / There are {number} {things} in the {room}. / There isn't any {food} in the {room}.
There's nothing {where}. / What a {quality} {thing}! / How {quality}! / It's a {quality} {thing}.
{my} {relative} is {where}. / {my} {relative} lives in {town}. / {my} {relative} and I {activity:past} {once}.
It'll rain {soon}. / It is {sky} {where}. / The weather is very good. / It's getting {sky}. / It's {hour}.
It rained {often}. / I think that {he} is {mood}. / I know that {someone} {activity:past} {once}.
{he} said that he was {mood}. / I hope that {someone} will {activity}. / I don't know where {he} is.
I don't know if {he} is {mood}. / I believe that {they} {activity}. / Do you know where the {place} is?
I don't think {he} is {mood}. / I don't know what to do. / I know what {he} {activity:past}.
I don't know why {he} {activity:past}. / That's why {someone} {activity:past}.
If it rains {soon}, {someone} will {activity}. / When I was young, I {activity:past} {often}.
{someone} {activity:past} because it was {sky}. / If I were you, I would {activity}.
I {activity:past}, but {someone} didn't. / I {activity:past} before I {activity:past}.
{someone} {activity:past} and {activity:past}. / When {he} {activity:past}, I was {mood}.
The {thing} that I bought {once} is {quality}. / The man who {activity:past} is my {relative}.
This is the {thing} that {someone} bought. / Do you have a {quality} {thing}? / The {thing} was made in {town}.
The house was built {once}. / {my} {thing} was stolen {once}. / {someone} went to {town} to {activity}.
{he} is too {quality} to {activity}. / {he} is taller than {him}. / {he} is as old as I am.
I like {food} better than {food}. / This is the best {thing} in {town}. / It's the most {quality} {thing} of all.
I'm looking forward to {topic}. / {someone} {activity:past} without {activity:ing}. / I like {activity:ing}.
{he} enjoys {activity:ing}. / {someone} began to {activity}. / {someone} used to {activity}.
I've lived {where} for {count} years. / Good morning, Tom. / Thank you very much. / I'm sorry that I'm late.
My name is Tom. / See you {soon}. / Thank you for the {thing}. / Do you speak {language}?
{he} speaks {language} very well. / I don't understand {language}. / {he} is from {town}. / Are you from {town}?
"""


def main() -> None:
    """Write the sentences that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo.sentences", description="Write plain English sentences."
    )
    parser.add_argument("--lines", type=int, default=20000, help="number of different sentences (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other sentences (default: 1)")
    parser.add_argument("output", type=Path, help="text file to write")
    given = parser.parse_args()
    given.output.write_text("".join(f"{line}\n" for line in sentences(given.lines, given.seed)), encoding="utf-8")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return `count` different sentences, the same for the same seed."""
    choices = random.Random(seed)
    patterns = [pattern.strip() for pattern in re.split(r"[/\n]", PATTERNS.strip())]
    found: dict[str, None] = {}
    while len(found) < count:
        found[finished(filled(choices.choice(patterns), choices))] = None
    return list(found)


def filled(pattern: str, choices: random.Random) -> str:
    """Replace every slot of a pattern by a phrase, and the slots of that phrase likewise."""

    def phrase(slot: re.Match[str]) -> str:
        name, _, form = slot.group(1).partition(":")
        words = filled(choices.choice(ALTERNATIVES[name]), choices)
        verb, space, rest = words.partition(" ")
        return form_of(verb, form) + space + rest if form else words

    return re.sub(r"{([a-z:]+)}", phrase, pattern)


def form_of(verb: str, form: str) -> str:
    """Return a form of a verb: `s`, `past`, `participle` or `ing`."""
    past, participle, ing = IRREGULAR_FORMS.get(verb, (None, None, None))
    irregular = {"s": "has" if verb == "have" else None, "past": past, "participle": participle, "ing": ing}[form]
    if irregular:
        return irregular
    if form == "ing":
        return (verb[:-1] if verb.endswith("e") else verb) + "ing"
    stem = re.sub(r"(?<![aeiou])y$", "ie", verb)
    if form == "s":
        return stem + ("es" if stem.endswith(("s", "sh", "ch", "o")) else "s")
    return stem + ("d" if stem.endswith("e") else "ed")


def finished(sentence: str) -> str:
    """Write `an` where it belongs, and a capital letter at the beginning."""
    sentence = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


IRREGULAR_FORMS = {
    verb: (past, others[0] if others else past, others[1] if others[1:] else None)
    for verb, past, *others in (entry.split() for entry in re.split(r"[,\n]", IRREGULAR.strip()))
}
ALTERNATIVES = {
    name: [phrase.strip() for phrase in re.split(r"[;\n]" if ";" in text else r"[,\n]", text.strip())]
    for name, text in PHRASES.items()
}

if __name__ == "__main__":
    main()
