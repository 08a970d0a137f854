package lexicon

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"adshard/fault"
	"adshard/search/words"
)

// maxLine bounds a line of a thesaurus in bytes.
const maxLine = 1 << 20

// maxMeanings bounds the lines under one head word.
const maxMeanings = 10_000

// readMyThes calls add for each pair of a thesaurus in the MyThes format: a line with the encoding,
// then for each head word a line "word|n" and n lines "(part of speech)|synonym|synonym…".
func readMyThes(ctx context.Context, s Source, add func(a, b string)) error {
	in := bufio.NewReaderSize(s.Reader, 64<<10)
	first, err := in.ReadString('\n')
	if err != nil && err != io.EOF {
		return fault.New(fault.Unavailable, "lexicon: read "+s.Name, err)
	}
	decode, err := decoder(strings.TrimSpace(first))
	if err != nil {
		return fault.New(fault.Invalid, "lexicon: read "+s.Name, err)
	}
	var lines *bufio.Scanner
	if decode == nil {
		lines = bufio.NewScanner(in)
	} else {
		lines = bufio.NewScanner(decode.Reader(in))
	}
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	head, left := "", 0
	for n := 2; lines.Scan(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return fault.New(fault.KindOf(ctx.Err()), "lexicon: read "+s.Name, ctx.Err())
		}
		line := strings.TrimSuffix(lines.Text(), "\r")
		if left > 0 {
			left--
			addMeaning(head, line, add)
			continue
		}
		if head, left, err = headLine(line); err != nil {
			return fault.Newf(fault.Invalid, "lexicon: read "+s.Name,
				"line %d is not of the form \"word|number\" (%w); is it a MyThes file (th_*.dat)?", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fault.New(fault.Invalid, "lexicon: read "+s.Name, err)
	}
	if left > 0 {
		return fault.Newf(fault.Invalid, "lexicon: read "+s.Name, "the file ends within %q; fetch it again", head)
	}
	return nil
}

// headLine reads a line "word|number".
func headLine(line string) (head string, meanings int, err error) {
	word, number, _ := strings.Cut(line, "|")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	if err == nil && n > maxMeanings {
		err = strconv.ErrRange
	}
	return single(word), int(n), err
}

// mainForm marks the most usual of several synonyms in the German thesaurus: the only mark that says
// nothing against an entry.
const mainForm = " (Hauptform)"

// addMeaning adds the pairs of a line "(part of speech)|synonym|synonym…". head is a folded form,
// or "" if the line is to be skipped.
func addMeaning(head, line string, add func(a, b string)) {
	_, rest, found := strings.Cut(line, "|")
	if head == "" || !found {
		return
	}
	for s := range strings.SplitSeq(rest, "|") {
		s = strings.TrimSuffix(s, mainForm)
		if w := single(s); w != "" && w != head {
			add(head, w)
		}
	}
}

// single returns the folded form of an entry that is one word without punctuation and has at least
// two letters or a digit, or "" for other entries.
func single(entry string) string {
	entry = strings.TrimSpace(entry)
	ws, err := words.Split(entry)
	if err != nil || len(ws) != 1 || !whole(entry) {
		return ""
	}
	f := ws[0].Fold
	if len(f) == 1 && (f[0] < '0' || f[0] > '9') {
		return ""
	}
	return f
}

// whole reports whether an entry of one word has no other characters: with a letter before and
// after, only such an entry stays one word.
func whole(entry string) bool {
	ws, err := words.Split("a" + entry + "a")
	return err == nil && len(ws) == 1
}

// decoder returns the decoder for an encoding named in the first line of a MyThes file, or nil for
// UTF-8.
func decoder(name string) (*encoding.Decoder, error) {
	key := strings.NewReplacer("-", "", "_", "", "\ufeff", "").Replace(strings.ToUpper(name))
	tables := map[string]*charmap.Charmap{
		"ISO88591": charmap.ISO8859_1, "ISO88592": charmap.ISO8859_2, "ISO88595": charmap.ISO8859_5,
		"ISO88597": charmap.ISO8859_7, "ISO88599": charmap.ISO8859_9, "ISO885915": charmap.ISO8859_15,
		"KOI8R": charmap.KOI8R, "CP1250": charmap.Windows1250, "CP1251": charmap.Windows1251,
		"MICROSOFTCP1250": charmap.Windows1250, "MICROSOFTCP1251": charmap.Windows1251,
		"WINDOWS1250": charmap.Windows1250, "WINDOWS1251": charmap.Windows1251, "WINDOWS1252": charmap.Windows1252,
	}
	if key == "UTF8" {
		return nil, nil
	}
	if t := tables[key]; t != nil {
		return t.NewDecoder(), nil
	}
	return nil, fault.Newf(fault.Invalid, "", "its first line %q names no known encoding; is it a MyThes file (th_*.dat)?",
		name[:min(len(name), 40)])
}
