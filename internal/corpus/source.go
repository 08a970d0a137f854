package corpus

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// item is the source data of one ad group.
type item struct {
	advertiser, campaign string
	title                string
	text                 string   // longer description, may be empty
	keywords             []string // a list of keywords that the source has
	languages            string   // as Editor writes them, e.g. "en;cs"
	czech                bool     // the title is Czech
	cents                int      // price, or 0 if not known
	words                []int32  // ids in the lexicon of the title's tokens
}

// table reads a tab-separated file with a header and calls row for each row; cell returns a cell by the name of its
// column. A missing file has no rows.
func table(files fs.FS, name string, row func(cell func(string) string)) error {
	r, err := openAny(files, name)
	if err != nil || r == nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var names, cells []string
	cell := func(name string) string {
		for i, n := range names {
			if n == name && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
		}
		return ""
	}
	for lines.Scan() {
		cells = strings.Split(lines.Text(), "\t")
		if names == nil {
			names = cells
			continue
		}
		row(cell)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("corpus: %s: %w", name, err)
	}
	return nil
}

// openAny opens name or name.gz. It returns nil if neither exists.
func openAny(files fs.FS, name string) (io.ReadCloser, error) {
	f, err := files.Open(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = files.Open(name + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("corpus: %s.gz: %w", name, err), f.Close())
	}
	return gzipFile{z, f}, nil
}

type gzipFile struct {
	*gzip.Reader
	file fs.File
}

// Close closes the reader and the file.
func (f gzipFile) Close() error { return errors.Join(f.Reader.Close(), f.file.Close()) }

// centsOf returns the cents of a price like 12.65, or 0 if the text is not a price.
func centsOf(s string) int {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 || f > 1e6 {
		return 0
	}
	return int(f*100 + 0.5)
}
