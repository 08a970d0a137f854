package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/ingest"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/outfile"
)

// ExportCommand returns the command that writes advertisers' data to a file.
func ExportCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var x export
	var format string
	var advertiser uint64
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the data as a file that import reads",
		Long: `Writes all data, or those of one advertiser: the state at one moment, as JSON lines or
as a file for Google Ads Editor. "adshard import" reads both: into the same database it
changes nothing, into an empty one it makes the same data. Ids, learned qualities, and
marks of budgets are not part of them. Nor is the table of places: run 'adshard locations
import' on a new database first, or campaigns that name more than countries are rejected
and paused. All data have the block lists as well, in JSON lines.

A file for Google Ads Editor cannot say audiences, sites or categories, nor that an
advertiser is paused or has no campaign, nor have a text that is [] or has a line break of CR and LF: the export then fails and says
where. --advertiser exports one of the others. A spreadsheet takes texts that begin with
=, +, - or @ for formulas.

The export is written to standard output, which has a part of it after an error, or with
--out to a file that is there when it is complete. With --json, what was written is said as
JSON; that needs --out.`,
		Example: `  adshard export --out ads.jsonl
  adshard export --advertiser 3 --format editor --out acme.csv
  adshard export --advertiser 3 | gzip > acme.jsonl.gz
  adshard import --db sqlite:copy.db ads.jsonl`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.JSON && x.path == "" {
				return cmdline.WrongUse("standard output has the data: with --json, name a file with --out")
			}
			var err error
			if x.format, err = ingest.ParseFormat(format); err != nil || x.format == ingest.FormatAuto {
				return cmdline.WrongUse("--format is %s or %s, not %q", ingest.FormatJSONL, ingest.FormatEditor, format)
			}
			q := url.Values{}
			if advertiser != 0 {
				q.Set("advertiser", strconv.FormatUint(advertiser, 10))
			}
			return x.run(c, &f, s, q)
		},
	}
	f.Add(c)
	c.Flags().Uint64Var(&advertiser, "advertiser", 0, "the id of the one advertiser whose data to write")
	c.Flags().StringVar(&format, "format", string(ingest.FormatJSONL), "jsonl, or editor: a CSV file for Google Ads Editor")
	c.Flags().StringVar(&x.path, "out", "", "the file to write; it must not exist")
	return c
}

// export is the format and the output of an export.
type export struct {
	format ingest.Format
	path   string // "" means standard output
}

func (x *export) run(c *cobra.Command, f *apiclient.AdminFlags, s cmdline.Streams, q url.Values) error {
	if err := outfile.Check(nil, x.output()); err != nil {
		return err // before any process is queried
	}
	cl, err := f.Client()
	if err != nil {
		return err
	}
	defer cl.Close()
	cl.HTTP.Timeout = 0 // no time limit for the whole body; an interruption ends it
	u := cl.Base.JoinPath("/v1/export")
	u.RawQuery = q.Encode()
	res, err := cl.Open(c.Context(), http.MethodGet, u, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, apiclient.MaxAnswer))
		return cl.Refused(res.StatusCode, body)
	}
	body := &whole{from: res.Body}
	if x.path == "" {
		_, err := x.write(s.Out, body)
		return err
	}
	n, err := x.create(body)
	if err != nil {
		return err
	}
	unit := "line"
	if x.format == ingest.FormatEditor {
		unit = "row"
	}
	if f.JSON {
		_, err = fmt.Fprintf(s.Out, "{\"%ss\":%d}\n", unit, n)
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s are in %s\n", terminal.Many(n, unit), terminal.Printable(x.path))
	return err
}

// create writes a new file, which gets its name when it is complete.
func (x *export) create(lines io.Reader) (n uint64, err error) {
	err = x.output().Write(func(w io.Writer) (err error) {
		n, err = x.write(w, lines)
		return err
	})
	return n, err
}

// output returns the output, a file that must not exist yet.
func (x *export) output() outfile.Output {
	return outfile.Output{Flag: "--out", Path: x.path, Kind: outfile.Kind{Name: "an export"}, New: true}
}

// write writes JSON lines in the requested format, and returns the number of lines or rows written.
func (x *export) write(to io.Writer, lines io.Reader) (n uint64, err error) {
	out := bufio.NewWriterSize(to, 64<<10)
	if x.format == ingest.FormatEditor {
		n, err = ingest.WriteEditorFile(out, lines)
	} else {
		n, err = copyLines(out, lines)
	}
	if e := out.Flush(); e != nil {
		return n, e
	}
	return n, err
}

// copyLines copies whole lines and counts them.
func copyLines(to io.Writer, from io.Reader) (lines uint64, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		part, err := in.ReadSlice('\n')
		if _, e := to.Write(part); e != nil {
			return lines, e
		}
		switch err {
		case nil:
			lines++
		case bufio.ErrBufferFull:
		case io.EOF:
			return lines, nil
		default:
			return lines, err
		}
	}
}

// whole reads a body. For a broken connection it returns an error that says so.
type whole struct{ from io.Reader }

// Read implements io.Reader.
func (w *whole) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if err != nil && err != io.EOF {
		err = fault.Newf(fault.Unavailable, "", "the export was cut off: %w; run it again", err)
	}
	return n, err
}
