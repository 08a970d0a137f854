package oracletest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adshard/search/words"
)

// Lexicon returns a lexicon with Synonyms.
func Lexicon() *words.Lexicon {
	lex, err := words.ReadLexicon(bytes.NewReader(LexiconFile()))
	if err != nil {
		panic(fmt.Sprintf("oracletest: read lexicon: %v", err))
	}
	return lex
}

// LexiconFile returns the content of a lexicon file with Synonyms.
func LexiconFile() []byte {
	var b bytes.Buffer
	if err := words.WriteLexicon(&b, lexiconLines()); err != nil {
		panic(fmt.Sprintf("oracletest: write lexicon: %v", err))
	}
	return b.Bytes()
}

func lexiconLines() []string {
	of := map[string][]string{} // synonyms by language and word
	for _, p := range Synonyms() {
		of[p.Language+"\t"+p.A] = append(of[p.Language+"\t"+p.A], p.B)
		of[p.Language+"\t"+p.B] = append(of[p.Language+"\t"+p.B], p.A)
	}
	lines := make([]string, 0, len(of))
	for _, head := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[head])
		lines = append(lines, head+"\t"+strings.Join(of[head], "\t"))
	}
	return lines
}
