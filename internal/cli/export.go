package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/fault"
)

func exportCommand(s Streams) *cobra.Command {
	var f adminFlags
	var advertiser uint64
	var to string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the data as a file that import reads",
		Long: `Writes all data, or those of one advertiser, as JSON lines: the state at one moment.
"adshard import" reads them: into the same database it changes nothing, into an empty
one it makes the same data. Ids, and marks of budgets, are not part of them.

The lines are written to standard output or, with --out, to a file that is there when
it is complete. With --json, what was written is said as JSON; that needs --out.`,
		Example: `  adshard export --out ads.jsonl
  adshard export --advertiser 3 | gzip > acme.jsonl.gz
  adshard import --db sqlite:copy.db ads.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.json && to == "" {
				return wrongUse("standard output has the data: with --json, name a file with --out")
			}
			q := url.Values{}
			if advertiser != 0 {
				q.Set("advertiser", strconv.FormatUint(advertiser, 10))
			}
			return runExport(c, &f, s, q, to)
		},
	}
	f.add(c)
	c.Flags().Uint64Var(&advertiser, "advertiser", 0, "the id of the one advertiser whose data to write")
	c.Flags().StringVar(&to, "out", "", "the file to write; it must not exist")
	return c
}

func runExport(c *cobra.Command, f *adminFlags, s Streams, q url.Values, to string) error {
	cl, err := f.client()
	if err != nil {
		return err
	}
	defer cl.close()
	cl.http.Timeout = 0 // of the whole body; an interruption ends it
	u := cl.base.JoinPath("/v1/export")
	u.RawQuery = q.Encode()
	res, err := cl.open(c.Context(), http.MethodGet, u, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		return cl.refused(res.StatusCode, body)
	}
	if to == "" {
		_, err := copyLines(s.Out, res.Body)
		return err
	}
	lines, err := exportTo(to, res.Body)
	if err != nil {
		return err
	}
	if f.json {
		_, err = fmt.Fprintf(s.Out, "{\"lines\":%d}\n", lines)
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s are in %s\n", many(lines, "line"), printable(to))
	return err
}

// exportTo writes to a new file, which has its name when it is complete.
func exportTo(path string, from io.Reader) (lines uint64, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fault.Newf(fault.Conflict, "", "%s exists: name another file, or remove it", path)
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	lines, err = copyLines(file, from)
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return lines, err
}

// copyLines copies whole lines and counts them. A connection that is cut off is an error.
func copyLines(to io.Writer, from io.Reader) (lines uint64, err error) {
	in, out := bufio.NewReaderSize(from, 64<<10), bufio.NewWriterSize(to, 64<<10)
	for err == nil {
		var part []byte
		part, err = in.ReadSlice('\n')
		if _, e := out.Write(part); e != nil {
			return lines, e
		}
		switch err {
		case nil:
			lines++
		case bufio.ErrBufferFull:
			err = nil
		}
	}
	if e := out.Flush(); e != nil {
		return lines, e
	}
	if err != io.EOF {
		return lines, fault.Newf(fault.Unavailable, "", "the export was cut off after %s: %w; run it again", many(lines, "line"), err)
	}
	return lines, nil
}
