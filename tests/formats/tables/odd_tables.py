"""Files as banks, loggers, offices and databases write them, and the tables a person sees there."""

from __future__ import annotations

from .pollution import File

_BANK = '''"Account";"Giro DE12 3456"
"From";"01.03.2024"
"To";"31.03.2024"
"Balance of 31.03.2024:";"1.234,56 EUR"

"Booked";"Text";"Payee";"Amount (EUR)";
"28.03.2024";"Transfer";"Müller & Söhne; Bau";"-1.204,50";
"27.03.2024";"Card";"Café ""Zur Post""";"-4,80";
"25.03.2024";"Salary";"Werk GmbH";"2.500,00";
"24.03.2024";"Card";"Bahn";"-19,90";
'''

_LOGGER = """# logger 7, firmware 2.1
# started: 2024-05-01, 08:00
#
time,temp,humidity,note
s,°C,%,text
0,20.1,40,ok
10,20.3,41,ok
20,20.2,40,"door, open"
30,20.6,39,ok
"""

_SCOPE = """Model,TD-2014
Serial,C012345
Channel,CH1
Units,V

Second,Volt
0.000,0.12
0.001,0.15
0.002,0.11
0.003,0.17
0.004,0.13
0.005,0.16
"""

_DUMP = """id\tname\tpath\tremark
1\tAnna\tC:\\\\data\\\\new\t\\N
2\tBob\t/tmp\ta \\"quoted\\" word
3\tEve\tD:\\\\x\t\\N
"""

_PSQL = """ id |  name  | amount
----+--------+--------
  1 | Anna   |   1.50
  2 | Bob    |  12.00
  3 | Eve    |
(3 rows)

"""

_MARKDOWN = """| city | people | river |
|------|-------:|:------|
| Bern | 134000 | Aare |
| Basel | 178000 | Rhine |
| Chur | 38000 | Rhine |
"""

_ALIGNED = """station      lat      lon   height
ABC1     47.3769   8.5417      556
ABC2     46.9480   7.4474      553
LONG3     6.0001   0.1000       12
"""

_SPENDING = """Spending over 500 in April,,,,
,,,,
Department,Date,Supplier,Amount,Purpose
Roads,01/04/2023,"Smith, Jones & Co","1,250.00",Repair
Parks,03/04/2023,Greenways,700.00,Trees
Roads,17/04/2023,Tarmac Ltd,"12,900.10",Surface
,,,,
"""

_TWEETS = """id,author,text,likes
1,anna,"Look: ""wow"", he said
and left",3
2,bob,"no, really? \U0001f600",0
3,eve,plain,12
"""

_INCHES = '''part,size,count
pipe,5" inner,3
pipe,7" inner,4
rod,1/2",9
plate,"4"" x 6""",1
'''

_NAMES = """nr,name,town
1,'t Hooft,'s-Hertogenbosch
2,O'Brien,Cork
3,D'Arcy,'s-Gravenhage
"""

_PASSWD = """root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
sys:x:3:3:sys:/dev:/usr/sbin/nologin
games:x:5:60:games:/usr/games:/usr/sbin/nologin
"""

_LIST = """Full name
Anna Maria Smith
Bob Jones
Eve Adams
Zoe Ann Black
"""

_R = """"height","weight"
"Anna",170,60.5
"Bob",181,82
"Eve",165,55.1
"""

_INDEX = """,a,b
0,1.5,x
1,2.5,y
2,3.5,z
"""

_FRENCH = """Ville;Habitants;Surface
Paris;2 165 423;105,40
Lyon;522 969;47,87
Nice;342 669;71,92
"""

_SURVEY = """"When did
you come?","What, if anything,
did you like?","Marks
(1-5)"
2024-01-03,the food,4
2024-01-04,"nothing, really",1
2024-01-05,all of it,5
"""

_NUMBERS = """1.5;2;3
4.5;5;6
7.5;8;9
"""

_JSON = """id,payload,at
1,"{""a"": ""x"", ""b"": [1, 2]}",2024-01-01
2,"{""a"": ""C:\\\\dir\\\\"", ""b"": []}",2024-01-02
3,{},2024-01-03
"""

_LOG = """Device: Thermo 3
Exported: 2024-02-01 10:00

Date;Time;Value
2024-01-31;10:00:00;1,5
2024-01-31;10:05:00;1,6
2024-01-31;10:10:00;1,4

End of data
"""

_TEXTS = """Title;Abstract
On rivers;They flow, bend, and end; mostly in seas
On hills;"Steep; green, and old"
On towns;Many, loud
On fields;Wide, flat, quiet
"""

_KEYWORDS = """Sales by region
Period: Q1 2024
Region|North|South|West
Jan|10|20|30
Feb|11|21|31
Mar|12|22|32
Total|33|63|93
"""

_BASKET = """milk,bread,beer
bread
beer,bread,milk,soap,salt
soap,milk
"""


def odd_tables() -> list[File]:
    """Return all of them."""
    bank = [
        ["28.03.2024", "Transfer", "Müller & Söhne; Bau", "-1.204,50", ""],
        ["27.03.2024", "Card", 'Café "Zur Post"', "-4,80", ""],
        ["25.03.2024", "Salary", "Werk GmbH", "2.500,00", ""],
        ["24.03.2024", "Card", "Bahn", "-19,90", ""],
    ]
    return [
        File(
            "bank",
            _BANK.replace("\n", "\r\n").encode("cp1252"),
            ["Booked", "Text", "Payee", "Amount (EUR)", ""],
            bank,
        ),
        File(
            "logger",
            _LOGGER.encode(),
            ["time s", "temp °C", "humidity %", "note text"],
            [
                ["0", "20.1", "40", "ok"],
                ["10", "20.3", "41", "ok"],
                ["20", "20.2", "40", "door, open"],
                ["30", "20.6", "39", "ok"],
            ],
        ),
        File(
            "scope",
            _SCOPE.encode(),
            ["Second", "Volt"],
            [
                [f"0.00{n}", v]
                for n, v in enumerate(("0.12", "0.15", "0.11", "0.17", "0.13", "0.16"))
            ],
        ),
        File(
            "dump",
            _DUMP.encode(),
            ["id", "name", "path", "remark"],
            [
                ["1", "Anna", "C:\\data\\new", "\\N"],
                ["2", "Bob", "/tmp", 'a "quoted" word'],
                ["3", "Eve", "D:\\x", "\\N"],
            ],
            "t.tsv",
        ),
        File(
            "psql",
            _PSQL.encode(),
            ["id", "name", "amount"],
            [["1", "Anna", "1.50"], ["2", "Bob", "12.00"], ["3", "Eve", ""]],
        ),
        File(
            "markdown",
            _MARKDOWN.encode(),
            ["", "city", "people", "river", ""],
            [
                ["", "Bern", "134000", "Aare", ""],
                ["", "Basel", "178000", "Rhine", ""],
                ["", "Chur", "38000", "Rhine", ""],
            ],
            "t.psv",
        ),
        File(
            "aligned",
            _ALIGNED.encode(),
            ["station", "lat", "lon", "height"],
            [
                ["ABC1", "47.3769", "8.5417", "556"],
                ["ABC2", "46.9480", "7.4474", "553"],
                ["LONG3", "6.0001", "0.1000", "12"],
            ],
        ),
        File(
            "spending",
            _SPENDING.encode(),
            ["Department", "Date", "Supplier", "Amount", "Purpose"],
            [
                ["Roads", "01/04/2023", "Smith, Jones & Co", "1,250.00", "Repair"],
                ["Parks", "03/04/2023", "Greenways", "700.00", "Trees"],
                ["Roads", "17/04/2023", "Tarmac Ltd", "12,900.10", "Surface"],
                ["", "", "", "", ""],
            ],
        ),
        File(
            "tweets",
            _TWEETS.encode(),
            ["id", "author", "text", "likes"],
            [
                ["1", "anna", 'Look: "wow", he said\nand left', "3"],
                ["2", "bob", "no, really? \U0001f600", "0"],
                ["3", "eve", "plain", "12"],
            ],
        ),
        File(
            "inches",
            _INCHES.encode(),
            ["part", "size", "count"],
            [
                ["pipe", '5" inner', "3"],
                ["pipe", '7" inner', "4"],
                ["rod", '1/2"', "9"],
                ["plate", '4" x 6"', "1"],
            ],
        ),
        File(
            "names",
            _NAMES.encode(),
            ["nr", "name", "town"],
            [
                ["1", "'t Hooft", "'s-Hertogenbosch"],
                ["2", "O'Brien", "Cork"],
                ["3", "D'Arcy", "'s-Gravenhage"],
            ],
        ),
        File(
            "passwd",
            _PASSWD.encode(),
            None,
            [line.split(":") for line in _PASSWD.splitlines()],
            "t.txt",
        ),
        File("list", _LIST.encode(), ["Full name"], [[line] for line in _LIST.splitlines()[1:]]),
        File(
            "row names",
            _R.encode(),
            ["height", "weight", ""],
            [["Anna", "170", "60.5"], ["Bob", "181", "82"], ["Eve", "165", "55.1"]],
        ),
        File(
            "index",
            _INDEX.encode(),
            ["", "a", "b"],
            [["0", "1.5", "x"], ["1", "2.5", "y"], ["2", "3.5", "z"]],
        ),
        File(
            "french",
            _FRENCH.encode("cp1252"),
            ["Ville", "Habitants", "Surface"],
            [
                ["Paris", "2 165 423", "105,40"],
                ["Lyon", "522 969", "47,87"],
                ["Nice", "342 669", "71,92"],
            ],
        ),
        File(
            "survey",
            _SURVEY.encode(),
            ["When did\nyou come?", "What, if anything,\ndid you like?", "Marks\n(1-5)"],
            [
                ["2024-01-03", "the food", "4"],
                ["2024-01-04", "nothing, really", "1"],
                ["2024-01-05", "all of it", "5"],
            ],
        ),
        File(
            "numbers",
            _NUMBERS.encode(),
            None,
            [["1.5", "2", "3"], ["4.5", "5", "6"], ["7.5", "8", "9"]],
        ),
        File(
            "json",
            _JSON.encode(),
            ["id", "payload", "at"],
            [
                ["1", '{"a": "x", "b": [1, 2]}', "2024-01-01"],
                ["2", '{"a": "C:\\\\dir\\\\", "b": []}', "2024-01-02"],
                ["3", "{}", "2024-01-03"],
            ],
        ),
        File(
            "log",
            _LOG.encode(),
            ["Date", "Time", "Value"],
            [
                ["2024-01-31", "10:00:00", "1,5"],
                ["2024-01-31", "10:05:00", "1,6"],
                ["2024-01-31", "10:10:00", "1,4"],
            ],
        ),
        File(
            "texts",
            _TEXTS.encode(),
            ["Title", "Abstract", ""],
            [
                ["On rivers", "They flow, bend, and end", " mostly in seas"],
                ["On hills", "Steep; green, and old", ""],
                ["On towns", "Many, loud", ""],
                ["On fields", "Wide, flat, quiet", ""],
            ],
        ),
        File(
            "keywords",
            _KEYWORDS.encode(),
            ["Region", "North", "South", "West"],
            [line.split("|") for line in _KEYWORDS.splitlines()[3:]],
        ),
        File(
            "basket",
            _BASKET.encode(),
            ["milk", "bread", "beer", "", ""],
            [["bread"], ["beer", "bread", "milk", "soap", "salt"], ["soap", "milk"]],
        ),
    ]
