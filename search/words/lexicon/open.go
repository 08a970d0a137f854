package lexicon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"adshard/fault"
	"adshard/internal/shell"
	"adshard/search/words"
)

// Open reads the lexicon file at path into memory. Errors: fault.NotFound if the file does not
// exist, otherwise those of words.ReadLexicon.
func Open(path string) (*words.Lexicon, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Newf(fault.NotFound, "lexicon: open",
			"%s is not there; make it with `adshard lexicon build --out %s`, or run without synonyms", path, shell.Word(path))
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "lexicon: open", err)
	}
	defer f.Close()
	l, err := words.ReadLexicon(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make it again with `adshard lexicon build --out %s`", path, err, shell.Word(path))
	}
	return l, nil
}
