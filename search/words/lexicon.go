package words

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"adshard/fault"
)

// LexiconFormat is the first line of a lexicon file; its number is the version of the format. The
// second line is LexiconTables, the third "sha256 " and the checksum of all lines after it. Then
// follows a line for each word: language, folded form, and the folded forms of its synonyms,
// separated by tabs. Lines and synonyms are sorted; each pair stands in both directions.
const LexiconFormat = "adshard lexicon 1"

// maxLexicon bounds a lexicon file in bytes.
const maxLexicon = 256 << 20

// Lexicon is a thesaurus: pairs of single words by folded form. The nil
// Lexicon is valid and has no pairs. It is safe for concurrent use.
type Lexicon struct {
	hash  string
	pairs map[string]map[string][]string // by language, by folded form
	count int
}

// Synonyms returns the synonyms of a folded form in a language, as sorted folded forms, or nil if
// there are none. The relation is symmetric, and synonyms of synonyms are not included. The caller
// must not change the slice. Synonyms allocates nothing.
func (l *Lexicon) Synonyms(language, folded string) []string {
	if l == nil {
		return nil
	}
	return l.pairs[language][folded]
}

// Hash identifies the pairs: it is the SHA-256 of the file's word lines in hex, or "" for the nil
// Lexicon.
func (l *Lexicon) Hash() string {
	if l == nil {
		return ""
	}
	return l.hash
}

// Pairs returns the number of pairs, each counted once.
func (l *Lexicon) Pairs() int {
	if l == nil {
		return 0
	}
	return l.count / 2
}

// ReadLexicon reads a lexicon file of at most 256 MiB into memory. Errors: fault.Version if the
// format or the Unicode tables are others, fault.Corrupt, fault.Unavailable if r fails.
func ReadLexicon(r io.Reader) (*Lexicon, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxLexicon+1))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "words: read lexicon", err)
	}
	if len(b) > maxLexicon {
		return nil, corrupt("longer than %d bytes", maxLexicon)
	}
	body, sum, err := lexiconHeader(b)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(body)
	if hex.EncodeToString(hash[:]) != sum {
		return nil, corrupt("the checksum is wrong: the file is damaged or was changed by hand")
	}
	return parseLexicon(string(body), sum)
}

// lexiconHeader checks the three lines of the header. It returns the lines after them and their
// checksum.
func lexiconHeader(b []byte) (body []byte, sum string, err error) {
	format, b, _ := bytes.Cut(b, []byte("\n"))
	if string(format) != LexiconFormat {
		if name, _, ok := bytes.Cut(format, []byte("lexicon ")); ok && string(name) == "adshard " {
			return nil, "", fault.Newf(fault.Version, "words: read lexicon", "its format is %q, this program reads %q",
				clip(format), LexiconFormat)
		}
		return nil, "", corrupt("it does not begin with %q", LexiconFormat)
	}
	tables, b, _ := bytes.Cut(b, []byte("\n"))
	if string(tables) != LexiconTables() {
		return nil, "", fault.Newf(fault.Version, "words: read lexicon", "it was folded with %q, this program folds with %q",
			clip(tables), LexiconTables())
	}
	check, body, ok := bytes.Cut(b, []byte("\n"))
	sum, found := strings.CutPrefix(string(clip(check)), "sha256 ")
	if !ok || !found {
		return nil, "", corrupt("its third line is not a checksum")
	}
	return body, sum, nil
}

// LexiconTables returns the second line of a lexicon file: the tables with which its words were
// folded.
func LexiconTables() string { return "folded by " + tables() }

// parseLexicon reads lines of language, word and synonyms, separated by tabs.
func parseLexicon(body, hash string) (*Lexicon, error) {
	if !utf8.ValidString(body) {
		return nil, corrupt("invalid UTF-8")
	}
	l := &Lexicon{hash: hash, pairs: make(map[string]map[string][]string)}
	slab := make([]string, 0, strings.Count(body, "\t"))
	for n := 1; body != ""; n++ {
		line, rest, ok := strings.Cut(body, "\n")
		language, fields, tab := strings.Cut(line, "\t")
		word, fields, more := strings.Cut(fields, "\t")
		if !ok || !tab || !more || language == "" || word == "" {
			return nil, corrupt("line %s of words is not whole", strconv.Itoa(n))
		}
		from := len(slab)
		for s := range strings.SplitSeq(fields, "\t") {
			if s == "" {
				return nil, corrupt("line %s of words is not whole", strconv.Itoa(n))
			}
			slab = append(slab, s)
		}
		of := l.pairs[language]
		if of == nil {
			of = make(map[string][]string)
			l.pairs[language] = of
		}
		of[word] = slab[from:len(slab):len(slab)]
		body = rest
	}
	l.count = len(slab)
	return l, nil
}

func corrupt(format string, args ...any) error {
	return fault.Newf(fault.Corrupt, "words: read lexicon", format, args...)
}

// clip limits how much of a file an error shows.
func clip(b []byte) []byte { return b[:min(len(b), 100)] }

// WriteLexicon writes pairs in the format that ReadLexicon reads. Lines must be sorted, as
// parseLexicon reads them, and without line ends.
func WriteLexicon(w io.Writer, lines []string) error {
	h := sha256.New()
	for _, l := range lines {
		_, _ = io.WriteString(h, l+"\n")
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n%s\nsha256 %x\n", LexiconFormat, LexiconTables(), h.Sum(nil))
	for _, l := range lines {
		_, _ = out.WriteString(l)
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}
