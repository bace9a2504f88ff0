"""Formulas as people of other countries type them, brought into the writing of files (F24.17).

Files hold English names, commas between arguments and points in numbers. What can mean one thing
only is corrected; anything else is left for the checks to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from .formula import Token, bare_name, join, tokens
from .signature import SIGNATURES

_WHOLE = re.compile(r"[0-9]+")
_BY_NUMBERS = re.compile(
    r"(?<![\w.'\]$])R(?:[0-9]+|\[-?[0-9]+\])C(?:[0-9]+|\[-?[0-9]+\])?(?![\w(.\[])"
    r"|(?<![\w.'\]$])RC\[-?[0-9]+\](?![\w(.\[])",
    re.I,
)
# the English name first; words that mean two things in two languages are not here
_NAMES = """
AGGREGATE AGGREGAT AGREGAT
AND UND ET EN
AVERAGE MITTELWERT MOYENNE PROMEDIO MEDIA MÉDIA GEMIDDELDE
AVERAGEIF MITTELWERTWENN MOYENNE.SI PROMEDIO.SI MEDIA.SE MÉDIASE GEMIDDELDE.ALS
AVERAGEIFS MITTELWERTWENNS MOYENNE.SI.ENS PROMEDIO.SI.CONJUNTO MEDIA.PIÙ.SE MÉDIASES
CHOOSE WAHL CHOISIR ELEGIR SCEGLI ESCOLHER KIEZEN
COLUMN SPALTE COLONNE COLUMNA RIF.COLONNA KOLOM
COLUMNS SPALTEN COLONNES COLUMNAS KOLOMMEN
CONCAT TEXTKETTE
CONCATENATE VERKETTEN CONCATENER CONCATENAR CONCATENA
COUNT ANZAHL NB CONTAR CONTA.NUMERI CONT.NÚM AANTAL
COUNTA ANZAHL2 NBVAL CONTARA CONTA.VALORI CONT.VALORES AANTALARG
COUNTBLANK ANZAHLLEEREZELLEN NB.VIDE CONTAR.BLANCO CONTA.VUOTE CONTAR.VAZIO AANTAL.LEGE.CELLEN
COUNTIF ZÄHLENWENN NB.SI CONTAR.SI CONTA.SE CONT.SE AANTAL.ALS
COUNTIFS ZÄHLENWENNS NB.SI.ENS CONTAR.SI.CONJUNTO CONTA.PIÙ.SE CONT.SES AANTALLEN.ALS
DATE DATUM FECHA DATA
DAY TAG JOUR DIA GIORNO DAG
DAYS TAGE
EDATE EDATUM MOIS.DECALER FECHA.MES DATA.MESE DATAM ZELFDE.DAG
EOMONTH MONATSENDE FIN.MOIS FIN.MES FINE.MESE FIMMÊS LAATSTE.DAG
FILTER FILTRE FILTRAR FILTRO
FIND FINDEN TROUVE ENCONTRAR TROVA VIND.ALLES
HLOOKUP WVERWEIS RECHERCHEH BUSCARH CERCA.ORIZZ PROCH HORIZ.ZOEKEN
HOUR STUNDE HEURE HORA
IF WENN SI SE ALS
IFERROR WENNFEHLER SIERREUR SI.ERROR SE.ERRORE SEERRO ALS.FOUT
IFNA WENNNV SI.NON.DISP SI.ND SENÃODISP
IFS WENNS SI.CONDITIONS SI.CONJUNTO
INDEX INDICE
INDIRECT INDIREKT INDIRECTO INDIRETTO INDIRETO
INT GANZZAHL ENT ENTERO INTEGER
ISBLANK ISTLEER ESTVIDE ESBLANCO VAL.VUOTO ISLEEG
ISERROR ISTFEHLER ESTERREUR ESERROR VAL.ERRORE ISFOUT
ISNUMBER ISTZAHL ESTNUM ESNUMERO VAL.NUMERO ISGETAL
ISTEXT ISTTEXT ESTTEXTE ESTEXTO
LARGE KGRÖSSTE GRANDE.VALEUR K.ESIMO.MAYOR GRANDE MAIOR GROOTSTE
LEFT LINKS GAUCHE IZQUIERDA SINISTRA ESQUERDA
LEN LÄNGE NBCAR LARGO LUNGHEZZA NÚM.CARACT LENGTE
LOOKUP RECHERCHE BUSCAR CERCA PROC ZOEKEN
LOWER KLEIN MINUSCULE MINUSC MINÚSCULA KLEINE.LETTERS
MATCH VERGLEICH EQUIV COINCIDIR CONFRONTA CORRESP VERGELIJKEN
MAXIFS MAXWENNS
MEDIAN MEDIANE MEDIANA MED MEDIAAN
MID TEIL STXT EXTRAE STRINGA.ESTRAI EXT.TEXTO DEEL
MINIFS MINWENNS
MINUTE MINUTO
MOD REST RESIDUO RESTO
MONTH MONAT MOIS MES MESE MÊS MAAND
NETWORKDAYS NETTOARBEITSTAGE NB.JOURS.OUVRES DIAS.LAB GIORNI.LAVORATIVI.TOT DIATRABALHOTOTAL
NETWORKDAYS NETTO.WERKDAGEN
NOT NICHT NON NÃO NIET
NOW JETZT MAINTENANT AHORA ADESSO AGORA NU
OFFSET BEREICH.VERSCHIEBEN DECALER DESREF SCARTO DESLOC VERSCHUIVING
OR ODER OU OF
PMT RMZ VPM PAGO RATA PGTO BET
POWER POTENZ PUISSANCE POTENCIA POTENZA POTÊNCIA MACHT
PRODUCT PRODUKT PRODUIT PRODUCTO PRODOTTO
PROPER GROSS2 NOMPROPRE NOMPROPIO PRI.MAIÚSCULA
RANK RANG JERARQUIA RANGO
REPLACE ERSETZEN REMPLACER REEMPLAZAR RIMPIAZZA MUDAR VERVANGEN
RIGHT RECHTS DROITE DERECHA DESTRA DIREITA
ROUND RUNDEN ARRONDI REDONDEAR ARROTONDA ARRED AFRONDEN
ROUNDDOWN ABRUNDEN ARRONDI.INF REDONDEAR.MENOS ARROTONDA.PER.DIF ARREDONDAR.PARA.BAIXO
ROUNDDOWN AFRONDEN.NAAR.BENEDEN
ROUNDUP AUFRUNDEN ARRONDI.SUP REDONDEAR.MAS ARROTONDA.PER.ECC ARREDONDAR.PARA.CIMA
ROUNDUP AFRONDEN.NAAR.BOVEN
ROW ZEILE LIGNE FILA RIF.RIGA LIN RIJ
ROWS ZEILEN LIGNES FILAS RIGHE RIJEN
SEARCH SUCHEN CHERCHE HALLAR RICERCA VIND.SPEC
SECOND SEKUNDE SECONDE SEGUNDO SECONDO
SMALL KKLEINSTE PETITE.VALEUR K.ESIMO.MENOR PICCOLO MENOR KLEINSTE
SORT SORTIEREN TRIER ORDENAR DATI.ORDINA CLASSIFICAR SORTEREN
SQRT WURZEL RACINE RAIZ RADQ WORTEL
STDEV STABW ECARTYPE DESVEST DEV.ST DESVPAD
SUBSTITUTE WECHSELN SUBSTITUE SUSTITUIR SOSTITUISCI SUBSTITUIR SUBSTITUEREN
SUBTOTAL TEILERGEBNIS SOUS.TOTAL SUBTOTALES SUBTOTALE SUBTOTAAL
SUM SUMME SOMME SUMA SOMMA SOMA SOM
SUMIF SUMMEWENN SOMME.SI SUMAR.SI SOMMA.SE SOMASE SOM.ALS
SUMIFS SUMMEWENNS SOMME.SI.ENS SUMAR.SI.CONJUNTO SOMMA.PIÙ.SE SOMASES SOMMEN.ALS
SUMPRODUCT SUMMENPRODUKT SOMMEPROD SUMAPRODUCTO MATR.SOMMA.PRODOTTO SOMARPRODUTO SOMPRODUCT
TEXT TEXTE TEXTO TESTO TEKST
TEXTJOIN TEXTVERKETTEN JOINDRE.TEXTE UNIRCADENAS UNIRTEXTO
TODAY HEUTE AUJOURDHUI HOY OGGI HOJE VANDAAG
TRANSPOSE MTRANS TRANSPONER MATR.TRASPOSTA TRANSPOR
TRIM GLÄTTEN SUPPRESPACE ESPACIOS ANNULLA.SPAZI ARRUMAR SPATIES.WISSEN
UNIQUE EINDEUTIG UNICOS UNICI UNIEK
UPPER GROSS MAJUSCULE MAYUSC MAIUSC MAIÚSCULA HOOFDLETTERS
VALUE WERT CNUM VALOR VALORE WAARDE
VLOOKUP SVERWEIS RECHERCHEV BUSCARV CERCA.VERT PROCV VERT.ZOEKEN
WEEKDAY WOCHENTAG JOURSEM DIASEM GIORNO.SETTIMANA WEEKDAG
WEEKNUM KALENDERWOCHE
WORKDAY ARBEITSTAG SERIE.JOUR.OUVRE DIA.LAB GIORNO.LAVORATIVO DIATRABALHO WERKDAG
XLOOKUP XVERWEIS RECHERCHEX BUSCARX CERCA.X PROCX X.ZOEKEN
XMATCH XVERGLEICH EQUIVX
YEAR JAHR ANNEE AÑO ANNO ANO JAAR
"""
_TRUTHS = {
    **dict.fromkeys(("WAHR", "VRAI", "VERDADERO", "VERO", "VERDADEIRO", "WAAR"), "TRUE"),
    **dict.fromkeys(("FALSCH", "FAUX", "FALSO", "ONWAAR"), "FALSE"),
}


def _table() -> dict[str, str]:
    lines = (line.split() for line in _NAMES.splitlines() if line)
    return {word: english for english, *words in lines for word in words}


ENGLISH = _table()
"""The English name of functions that have another one elsewhere."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A formula as files hold it, and what was written otherwise."""

    text: str
    changes: tuple[str, ...] = ()


def corrected(formula: str, own: Collection[str] = ()) -> Corrected:
    """Return a formula without its `=` in English; `own` are its names, in small letters.

    Where it is not sure what is meant, it stays as it is.
    """
    pieces = list(tokens(formula))
    changes: list[str] = []
    pieces = _braces(pieces, changes)
    parted = [i for i in _outside_braces(pieces) if pieces[i].text == ";"]
    pieces = _separators(pieces, parted, changes) if parted else _points(pieces, changes)
    pieces = _words(pieces, own, changes)
    return Corrected(join(pieces), tuple(dict.fromkeys(changes)))


def by_numbers(formula: str) -> str | None:
    """Return the first reference that names a row and a column by numbers, None without one."""
    plain = re.sub(r'"(?:[^"]|"")*"', '""', formula)
    found = _BY_NUMBERS.search(plain)
    return found[0] if found else None


def _braces(pieces: Sequence[Token], changes: list[str]) -> list[Token]:
    """Put commas where a backslash parts the columns of values in braces."""
    out: list[Token] = []
    depth, start = 0, 0
    for token in pieces:
        if token.kind == "brace":
            depth += 1 if token.text == "{" else -1
            if token.text == "{":
                start = len(out)
            else:
                inner = join(out[start + 1 :])
                if "\\" in re.sub(r'"(?:[^"]|"")*"', "", inner):
                    out[start + 1 :] = [Token("braced", _columns(inner))]
                    changes.append("\\ in braces is ,")
        out.append(token)
    return list(tokens(join(out))) if changes else out


def _columns(inner: str) -> str:
    """Return values in braces with points in numbers and commas between columns."""
    parts = re.split(r'("(?:[^"]|"")*")', inner)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"(?<=[0-9]),(?=[0-9])", ".", parts[at]).replace("\\", ",")
    return "".join(parts)


def _separators(pieces: list[Token], at: list[int], changes: list[str]) -> list[Token]:
    """Put commas for the semicolons between arguments; commas can then only stand in numbers."""
    commas = [i for i in _outside_braces(pieces) if pieces[i].text == ","]
    bare = _outside_calls(pieces)
    if any(i in bare for i in at) or not all(_is_decimal(pieces, i) for i in commas):
        return pieces
    for i in at:
        pieces[i] = replace(pieces[i], text=",")
    changes.append("; is ,")
    return _joined_numbers(pieces, commas, changes)


def _points(pieces: list[Token], changes: list[str]) -> list[Token]:
    """Put a point for a comma between digits where no function could take two numbers."""
    bare = _outside_calls(pieces)
    commas = [
        index
        for index, token in enumerate(pieces)
        if token.text == "," and index in bare and _is_decimal(pieces, index)
    ]
    return _joined_numbers(pieces, commas, changes) if commas else pieces


def _outside_calls(pieces: Sequence[Token]) -> set[int]:
    """Return where no call's brackets and no braces stand around."""
    depth: list[bool] = []  # whether a bracket is a call's
    found: set[int] = set()
    for index, token in enumerate(pieces):
        if token.kind in {"function", "open"} or token.text == "{":
            follows = index > 0 and pieces[index - 1].kind in {
                "close",
                "name",
            }  # LAMBDA(x,y,x)(1,2)
            depth.append(token.kind != "open" or follows)
        elif (token.kind == "close" or token.text == "}") and depth:
            depth.pop()
        elif not any(depth):
            found.add(index)
    return found


def _outside_braces(pieces: Sequence[Token]) -> list[int]:
    found, depth = [], 0
    for index, token in enumerate(pieces):
        if token.kind == "brace":
            depth += 1 if token.text == "{" else -1
        elif token.kind == "separator" and not depth:
            found.append(index)
    return found


def _is_decimal(pieces: Sequence[Token], index: int) -> bool:
    """Whether a comma stands between the digits of what may be one number."""
    if not 0 < index < len(pieces) - 1:
        return False
    left, right = pieces[index - 1], pieces[index + 1]
    both = left.kind == right.kind == "number"
    before = pieces[index - 2] if index > 1 else None
    chained = before is not None and before.kind == "separator" and before.text == ","
    return (
        both
        and _WHOLE.fullmatch(left.text) is not None
        and _WHOLE.match(right.text) is not None
        and "." not in right.text
        and not chained
    )


def _joined_numbers(pieces: list[Token], commas: list[int], changes: list[str]) -> list[Token]:
    out = list(pieces)
    for index in reversed(commas):
        number = f"{out[index - 1].text}.{out[index + 1].text}"
        changes.append(f"{out[index - 1].text},{out[index + 1].text} is {number}")
        out[index - 1 : index + 2] = [Token("number", number)]
    return out


def _words(pieces: list[Token], own: Collection[str], changes: list[str]) -> list[Token]:
    """Put English names; names that the formula or the workbook gives stay.

    Beside a comma between digits nobody knows whether it parts arguments: RUNDEN(1,5).
    """
    commas = (i for i in _outside_braces(pieces) if pieces[i].text == ",")
    if any(_is_decimal(pieces, index) for index in commas) and "; is ," not in changes:
        return pieces
    given = {token.body.lower() for token in pieces if token.kind == "name"}
    out = []
    for token in pieces:
        word = token.text.removesuffix("(")
        english = None
        if token.kind == "function" and bare_name(word) not in SIGNATURES:
            english = ENGLISH.get(word.upper())
            if english and word.lower() not in given and word.lower() not in own:
                changes.append(f"{word} is {english}")
                token = replace(token, text=f"{english}(", body=english)
        elif token.kind == "name" and token.sheet is None and word.lower() not in own:
            english = _TRUTHS.get(word.upper())
            if english:
                changes.append(f"{word} is {english}")
                token = replace(token, text=english, body=english)
        out.append(token)
    return out
