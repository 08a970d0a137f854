package textfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// readAll returns all records as "record@line:cell|cell", one a line, then the error that ended reading, unless it is
// io.EOF.
func readAll(r *Reader) string {
	var b strings.Builder
	for {
		cells, err := r.Next()
		switch {
		case err == io.EOF:
			return b.String()
		case errors.Is(err, ErrTooLong):
			fmt.Fprintf(&b, "%d@%d:too long\n", r.Record, r.Line)
			continue
		case err != nil:
			fmt.Fprintf(&b, "%d@%d:%v", r.Record, r.Line, err)
			return b.String()
		}
		fmt.Fprintf(&b, "%d@%d:%s\n", r.Record, r.Line, bytes.Join(cells, []byte("|")))
	}
}

func TestRecords(t *testing.T) {
	long := strings.Repeat("x", MaxRecord+1)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "a,b\nc,d\n", "1@1:a|b\n2@2:c|d\n"},
		{"no line end", "a,b\nc,d", "1@1:a|b\n2@2:c|d\n"},
		{"crlf", "a,b\r\nc,d\r\n", "1@1:a|b\n2@2:c|d\n"},
		{"empty line counts", "a\n\nb\n", "1@1:a\n2@2:\n3@3:b\n"},
		{"empty cells", ",,\n", "1@1:||\n"},
		{"quoted", `"a","b ""c"" d",""` + "\n", "1@1:a|b \"c\" d|\n"},
		{"separator in quotes", `"a,b",c` + "\n", "1@1:a,b|c\n"},
		{"line break in quotes", "\"a\nb\",c\nd\n", "1@1:a\nb|c\n2@3:d\n"},
		{"crlf in quotes", "\"a\r\nb\",c\r\nd\r\n", "1@1:a\nb|c\n2@3:d\n"},
		{"lone cr is data", "a\rb,c\n", "1@1:a\rb|c\n"},
		{"only quotes", `"""",""""""`, "1@1:\"|\"\"\n"},
		{"bare quote", "a\nb\"c,d\n", "2@2:cell 1: " + errBareQuote.Error()},
		{"bare quote swallows nothing", "a\nb\"c,d\ne\nf\n", "2@2:cell 1: " + errBareQuote.Error()},
		{"past quote", "a,\"b\"c\n", "1@1:cell 2: " + errPastQuote.Error()},
		{"open quote", "a\nb,\"c\nd\n", "2@2:cell 2: " + errOpenQuote.Error()},
		{"open quote at once", "\"", "1@1:cell 1: " + errOpenQuote.Error()},
		{"too long", "a\n" + long + "\nb\n", "1@1:a\n2@2:too long\n3@3:b\n"},
		{"too long at the end", "a\n" + long, "1@1:a\n2@2:too long\n"},
		{"too long in quotes", "a\n\"" + long + "\n\"\nb\n", "1@1:a\n2@2:too long\n3@4:b\n"},
		{"too long for an open quote", "a\n\"" + long, "1@1:a\n2@2:" + errOpenQuote.Error()},
		{"too long for a bare quote", "a\nb\"" + long + "\n" + long, "1@1:a\n2@2:cell 1: " + errBareQuote.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if strings.HasPrefix(want, "2@2:cell") {
				want = "1@1:a\n" + want
			}
			for name, src := range map[string]io.Reader{
				"whole": strings.NewReader(c.in),
				"half":  iotest.HalfReader(strings.NewReader(c.in)),
				"bytes": iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(c.in))),
			} {
				if name == "bytes" && len(c.in) > MaxRecord {
					continue // slow, and reaches no other branch of the reader
				}
				r := NewReader(src)
				r.Separator = ','
				if got := readAll(r); got != want {
					t.Errorf("%s:\n%.400s\nwant:\n%.400s", name, got, want)
				}
			}
		})
	}
}

func TestRecordsReadError(t *testing.T) {
	broken := errors.New("broken disk")
	r := NewReader(io.MultiReader(strings.NewReader("a,b\nc"), iotest.ErrReader(broken)))
	r.Separator = ','
	if got, want := readAll(r), "1@1:a|b\n2@2:broken disk"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRecordsLikeEncodingCSV compares the reader with the standard library's on all files that this reader accepts.
func TestRecordsLikeEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOfN(rapid.SampledFrom([]rune("ab\",\n\r\t é")), 0, 60, -1).Draw(t, "in")
		chunk := rapid.IntRange(1, 7).Draw(t, "chunk")
		sep := rapid.SampledFrom([]rune(",\t")).Draw(t, "sep")
		std := csv.NewReader(strings.NewReader(in))
		std.Comma, std.FieldsPerRecord = sep, -1
		want, wantErr := std.ReadAll()
		r := NewReader(&chunked{strings.NewReader(in), chunk})
		r.Separator = byte(sep)
		var got [][]string
		var err error
		for err == nil {
			var cells [][]byte
			if cells, err = r.Next(); err == nil {
				if len(cells) == 1 && len(cells[0]) == 0 {
					continue // encoding/csv skips empty lines
				}
				row := make([]string, len(cells))
				for i := range cells {
					row[i] = string(cells[i])
				}
				got = append(got, row)
			}
		}
		if (err == io.EOF) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/csv: %v", in, err, wantErr)
		}
		want = withoutEmpty(want)
		if err == io.EOF && fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q: %q, encoding/csv: %q", in, got, want)
		}
	})
}

// withoutEmpty leaves out records with only one cell, which is empty.
func withoutEmpty(rows [][]string) (out [][]string) {
	for _, row := range rows {
		if len(row) != 1 || row[0] != "" {
			out = append(out, row)
		}
	}
	return out
}

type chunked struct {
	src io.Reader
	n   int
}

func (c *chunked) Read(p []byte) (int, error) { return c.src.Read(p[:min(len(p), c.n)]) }

func TestLineReader(t *testing.T) {
	r := NewLineReader(strings.NewReader("a \"\nb\r\n\n"+strings.Repeat("x", MaxRecord+1)+"\nc"), MaxRecord)
	for _, want := range []string{`a "`, "b", "", "too long", "c", "EOF"} {
		raw, err := r.Raw()
		got := string(raw)
		switch {
		case errors.Is(err, ErrTooLong):
			got = "too long"
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Fatalf("line %d: %q, want %q", r.Line, got, want)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	row := "Koss\telectronics\t\t\t\tKoss EQ50 3-Band Stereo Equalizer\t\t\t\t\t3 Band Stereo\tBroad\t3\t\t\t\t\t\t\t\t\t\t\t\t\t\tEnabled\r\n"
	text := strings.Repeat(row, 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(text))
		r.Separator = '\t'
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}

func BenchmarkEncodingCSV(b *testing.B) {
	row := "Koss\telectronics\t\t\t\tKoss EQ50 3-Band Stereo Equalizer\t\t\t\t\t3 Band Stereo\tBroad\t3\t\t\t\t\t\t\t\t\t\t\t\t\t\tEnabled\r\n"
	text := strings.Repeat(row, 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.ReuseRecord = '\t', true
		for {
			if _, err := r.Read(); err != nil {
				break
			}
		}
	}
}

// FuzzRecords: the records do not depend on the chunks in which the bytes arrive.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("a,\"b\nc\"\r\n\"\"\"\"\n"), uint8(3))
	f.Fuzz(func(t *testing.T, file []byte, chunk uint8) {
		read := func(src io.Reader) string {
			r := NewReader(src)
			r.Separator = ','
			return readAll(r)
		}
		whole := read(strings.NewReader(string(file)))
		if got := read(&chunked{strings.NewReader(string(file)), 1 + int(chunk)}); got != whole {
			t.Fatalf("in chunks of %d: %q, whole: %q", 1+int(chunk), got, whole)
		}
	})
}
