package lexicon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"adshard/fault"
	"adshard/internal/outfile"
	"adshard/search/words"
)

// Source is a thesaurus to be read.
type Source struct {
	Language string // code of words.Stemmed
	Name     string // for errors
	Reader   io.Reader
}

// File is a thesaurus on disk.
type File struct {
	Language, Path string
	Package        string // the Debian package that contains the file, for errors
}

// DebianFiles returns the thesauri of languages in Debian's packages. It returns fault.NotFound for a
// language without one, or whose thesaurus is one of associations (docs/decisions/044-thesauri.md).
func DebianFiles(languages words.Languages) ([]File, error) {
	table := []File{
		{"cs", "/usr/share/mythes/th_cs_CZ_v2.dat", "mythes-cs"},
		{"da", "/usr/share/mythes/th_da_DK.dat", "mythes-da"},
		{"de", "/usr/share/mythes/th_de_DE_v2.dat", "mythes-de"},
		{"en", "/usr/share/mythes/th_en_US_v2.dat", "mythes-en-us"},
		{"sv", "/usr/share/mythes/th_sv_SE_v2.dat", "mythes-sv"},
	}
	var files []File
	for _, code := range languages.Codes() {
		i := slices.IndexFunc(table, func(f File) bool { return f.Language == code })
		if i < 0 {
			return nil, fault.Newf(fault.NotFound, "lexicon: build", "Debian has no thesaurus in language %q that is precise enough; name a file", code)
		}
		files = append(files, table[i])
	}
	return files, nil
}

// Count is what a build found for a language.
type Count struct {
	Language     string
	Words, Pairs int // words with a synonym, and pairs, each counted once
	Longest      int // the largest number of synonyms of a word
}

// pair is a word and one of its synonyms in a language.
type pair struct{ language, word, synonym string }

// Build reads the sources and writes a lexicon file to out. Errors: fault.Invalid if a source is
// not a thesaurus, fault.Cancelled.
func Build(ctx context.Context, out io.Writer, sources ...Source) ([]Count, error) {
	seen := make(map[pair]struct{})
	for _, s := range sources {
		if !words.HasStemmer(s.Language) {
			return nil, fault.Newf(fault.Invalid, "lexicon: build", "no synonyms in language %q; use one of %s",
				s.Language, strings.Join(words.Stemmed(), ", "))
		}
		err := readMyThes(ctx, s, func(a, b string) {
			seen[pair{s.Language, a, b}] = struct{}{}
			seen[pair{s.Language, b, a}] = struct{}{}
		})
		if err != nil {
			return nil, err
		}
	}
	lines, counts := group(seen)
	if len(lines) == 0 {
		return nil, fault.Newf(fault.Invalid, "lexicon: build", "the sources hold no pair of single words")
	}
	if err := words.WriteLexicon(out, lines); err != nil {
		return nil, fault.New(fault.Unavailable, "lexicon: write", err)
	}
	return counts, nil
}

// group returns the sorted lines of a lexicon file, each with its synonyms sorted, and the counts.
func group(seen map[pair]struct{}) ([]string, []Count) {
	pairs := make([]pair, 0, len(seen))
	for p := range seen {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if c := strings.Compare(a.language, b.language); c != 0 {
			return c
		}
		if c := strings.Compare(a.word, b.word); c != 0 {
			return c
		}
		return strings.Compare(a.synonym, b.synonym)
	})
	var lines []string
	var counts []Count
	for i := 0; i < len(pairs); {
		p, j := pairs[i], i
		line := p.language + "\t" + p.word
		for ; j < len(pairs) && pairs[j].language == p.language && pairs[j].word == p.word; j++ {
			line += "\t" + pairs[j].synonym
		}
		lines = append(lines, line)
		counts = count(counts, p.language, j-i)
		i = j
	}
	for i := range counts {
		counts[i].Pairs /= 2
	}
	return lines, counts
}

func count(counts []Count, language string, synonyms int) []Count {
	if len(counts) == 0 || counts[len(counts)-1].Language != language {
		counts = append(counts, Count{Language: language})
	}
	c := &counts[len(counts)-1]
	c.Words++
	c.Pairs += synonyms
	c.Longest = max(c.Longest, synonyms)
	return counts
}

// BuildFile builds the lexicon file at path from thesauri on disk. The file is written beside path,
// then renamed, so that path never holds half a file. Errors are those of Build, and fault.NotFound
// if a thesaurus does not exist.
func BuildFile(ctx context.Context, path string, files ...File) ([]Count, error) {
	sources := make([]Source, 0, len(files))
	for _, f := range files {
		in, err := os.Open(f.Path)
		if err != nil {
			return nil, missing(f, err)
		}
		defer in.Close()
		sources = append(sources, Source{Language: f.Language, Name: f.Path, Reader: in})
	}
	var counts []Count
	err := Output(path).Write(func(w io.Writer) (err error) {
		counts, err = Build(ctx, w, sources...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// Output describes the lexicon file at path. Any master may read it.
func Output(path string) outfile.Output {
	return outfile.Output{Flag: "--out", Path: path,
		Kind: outfile.Kind{Name: "a lexicon", Is: outfile.Begins(strings.TrimRight(words.LexiconFormat, "0123456789")), Mode: outfile.Public}}
}

func missing(f File, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "lexicon: open", err)
	}
	if f.Package == "" {
		return fault.Newf(fault.NotFound, "lexicon: open", "%s is not there", f.Path)
	}
	return fault.Newf(fault.NotFound, "lexicon: open", "%s is not there; install it: apt-get install %s", f.Path, f.Package)
}
