package spelling

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adshard/fault"
	"adshard/search/words"
)

// Vocabulary is the words of all keywords. It is immutable.
type Vocabulary struct {
	version string
	text    string
	starts  []uint32 // of the words in text, by id
	sums    []sum    // of the words, by id
	index   index
}

// header begins a text, and is followed by words.Version: a vocabulary with other folded forms would
// miss words.
const header = "vocabulary 2; "

// Header returns the first line of texts that this program makes and reads.
func Header() string { return header + words.Version() + "\n" }

// Parse reads a vocabulary: the Header, then a line for each word with its folded form, a space and
// the number of keywords that have it. Words are in order of rank: by frequency, highest first, then
// by code points. It returns fault.Version for a text that was made with other rules of words, and
// fault.Corrupt for one that is damaged.
func Parse(text string) (*Vocabulary, error) {
	const op = "vocabulary"
	if !strings.HasPrefix(text, Header()) {
		line, _, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, header) {
			return nil, fault.Newf(fault.Version, op, "it was made with words of version %.200q, this program has %q", line[len(header):], words.Version())
		}
		return nil, fault.Newf(fault.Corrupt, op, "it begins with %.40q", line)
	}
	v := &Vocabulary{text: text}
	n := strings.Count(text, "\n") - 1
	if n > MaxWords || len(text) > 1<<31 {
		return nil, fault.Newf(fault.Corrupt, op, "it has %d words; at most %d can be kept", n, MaxWords)
	}
	v.starts = make([]uint32, 0, n)
	v.sums = make([]sum, 0, n)
	before, most := "", uint64(1<<32)
	for at := len(Header()); at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return nil, fault.Newf(fault.Corrupt, op, "its last line is cut off")
		}
		word, count, ok := parseLine(text[at : at+end])
		if !ok || count > most || count == most && word <= before {
			return nil, fault.Newf(fault.Corrupt, op, "line %d, %.100q, is not a word with its frequency, in order", len(v.starts)+2, text[at:at+end])
		}
		before, most = word, count
		v.starts = append(v.starts, uint32(at))
		v.sums = append(v.sums, sumOf(word))
		at += end + 1
	}
	if word, twice := v.repeated(); twice {
		return nil, fault.Newf(fault.Corrupt, op, "the word %.100q is in it twice", word)
	}
	v.index.build(v)
	v.version = VersionOf(text)
	return v, nil
}

// repeated returns a word that the vocabulary has twice, if there is any.
func (v *Vocabulary) repeated() (word string, ok bool) {
	hashes := make([]uint64, len(v.starts))
	for id := range v.starts {
		hashes[id] = words.Hash(v.word(uint32(id)))
	}
	slices.Sort(hashes)
	if len(slices.Compact(hashes)) == len(v.starts) {
		return "", false
	}
	seen := make(map[string]bool, len(v.starts)) // different words may have one hash
	for id := range v.starts {
		word := v.word(uint32(id))
		if seen[word] {
			return word, true
		}
		seen[word] = true
	}
	return "", false
}

// VersionOf returns the version of the vocabulary that a text is, or "" if it was made with other rules of words, or is
// none.
func VersionOf(text string) string {
	if !strings.HasPrefix(text, Header()) {
		return ""
	}
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:8])
}

func parseLine(line string) (word string, count uint64, ok bool) {
	word, number, ok := strings.Cut(line, " ")
	if !ok || !utf8.ValidString(word) || !InVocabulary(word) || strings.HasPrefix(number, "0") || strings.HasPrefix(number, "+") {
		return "", 0, false
	}
	count, err := strconv.ParseUint(number, 10, 32)
	return word, count, err == nil
}

// Version returns a name for the content, 16 hexadecimal digits: equal vocabularies have equal versions.
func (v *Vocabulary) Version() string { return v.version }

// Len returns the number of words.
func (v *Vocabulary) Len() int { return len(v.starts) }

// Bytes returns the memory that the vocabulary occupies.
func (v *Vocabulary) Bytes() int {
	return len(v.text) + 4*(cap(v.starts)+cap(v.sums)+cap(v.index.starts)+cap(v.index.entries)+cap(v.index.known))
}

// word returns the word with an id.
func (v *Vocabulary) word(id uint32) string {
	line := v.text[v.starts[id]:]
	return line[:strings.IndexByte(line, ' ')]
}
