package db

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/database"
)

// BlocklistCommand returns the commands on block lists.
func BlocklistCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "blocklist",
		Short: "Show and change block lists",
		Long: `A block list names advertisers, domains and categories that a page does not want to show.
Pages name the list in their requests. Imports of JSON lines change lists, too. A running
cluster uses a changed list within a second, on a busy machine a very large one later.`,
	})
	c.AddCommand(blocklistListCommand(s), blocklistShowCommand(s), blocklistSetCommand(s), blocklistRemoveCommand(s))
	return c
}

// withStore opens an existing database and calls f.
func withStore(ctx context.Context, url string, s cmdline.Streams, f func(backend.Store) error) error {
	if err := cmdline.CheckDatabase(url); err != nil {
		return err
	}
	store, err := database.OpenTelling(ctx, url, s.Warn)
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

func oneList(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cmdline.WrongUse("name one block list")
	}
	if err := blocklist.CheckName(args[0]); err != nil {
		return cmdline.Usage(err)
	}
	return nil
}

func blocklistListCommand(s cmdline.Streams) *cobra.Command {
	var db string
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:     "list --db URL",
		Short:   "List the block lists",
		Long:    `Lists the block lists with their versions. A version grows with each change.`,
		Example: `  adshard blocklist list --db sqlite:ads.db`,
		Args:    cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withStore(c.Context(), db, s, func(store backend.Store) error {
				all, err := blocklist.Heads(c.Context(), store)
				if err != nil {
					return err
				}
				return o.Print(s, headsJSON(all), func() error { return showHeads(s, all) })
			})
		},
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	o.Flag(c)
	return c
}

func headsJSON(all []blocklist.Stored) any {
	type head struct {
		Name    string `json:"name"`
		Version uint64 `json:"version"`
	}
	heads := []head{}
	for _, l := range all {
		heads = append(heads, head{l.Name, l.Version})
	}
	return map[string]any{"blocklists": heads}
}

func showHeads(s cmdline.Streams, all []blocklist.Stored) error {
	if len(all) == 0 {
		fmt.Fprintln(s.Err, "there is no block list")
		return nil
	}
	t := terminal.NewTable(s.Out, "name", "version")
	for _, l := range all {
		t.Row(l.Name, strconv.FormatUint(l.Version, 10))
	}
	return t.Flush()
}

func blocklistShowCommand(s cmdline.Streams) *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "show --db URL NAME",
		Short: "Show a block list as a JSON line",
		Long:  `Prints a block list as adshard import reads it: a JSON line.`,
		Example: `  adshard blocklist show --db sqlite:ads.db competitors
  adshard blocklist show --db sqlite:ads.db competitors | jq -r '.domains[]'`,
		Args: oneList,
		RunE: func(c *cobra.Command, args []string) error {
			return withStore(c.Context(), db, s, func(store backend.Store) error {
				l, err := blocklist.Load(c.Context(), store, args[0])
				if err != nil {
					return err
				}
				e := json.NewEncoder(s.Out)
				e.SetEscapeHTML(false)
				return e.Encode(listJSON(&l))
			})
		},
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	return c
}

func listJSON(l *blocklist.Stored) any {
	return struct {
		Type          string   `json:"type"`
		Name          string   `json:"name"`
		Advertisers   []uint64 `json:"advertisers"`
		Domains       []string `json:"domains"`
		Categories    []string `json:"categories"`
		Uncategorised bool     `json:"block_uncategorised"`
	}{"blocklist", l.Name, append([]uint64{}, l.Advertisers...), l.WrittenDomains(), append([]string{}, l.Categories...), l.Uncategorised}
}

type blocklistFlags struct {
	out           cmdline.Outcome
	db, domains   string
	advertisers   []uint
	categories    []string
	uncategorised bool
}

func blocklistSetCommand(s cmdline.Streams) *cobra.Command {
	var f blocklistFlags
	c := &cobra.Command{
		Use:   "set --db URL NAME",
		Short: "Make or change a block list",
		Long: `Makes a block list, or changes it. Each of the flags replaces all that the list has of its
kind; what is not given stays as it is.

A domain meets its subdomains, too, and a category what is below it: alcohol meets alcohol/wine.`,
		Example: `  adshard blocklist set --db sqlite:ads.db family --categories alcohol,gambling --uncategorised
  adshard blocklist set --db sqlite:ads.db competitors --domains competitors.txt
  adshard blocklist set --db sqlite:ads.db family --categories ""`,
		Args: oneList,
		RunE: func(c *cobra.Command, args []string) error {
			return setBlocklist(c, &f, args[0], s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp)
	flags.StringVar(&f.domains, "domains", "", "a file of domains, one a line; - is standard input, an empty name no domains")
	flags.StringSliceVar(&f.categories, "categories", nil, "categories, with commas between them")
	flags.UintSliceVar(&f.advertisers, "advertisers", nil, "ids of advertisers, with commas between them")
	flags.BoolVar(&f.uncategorised, "uncategorised", false, "block campaigns that have no category, nor their advertiser")
	f.out.Flag(c)
	return c
}

func setBlocklist(c *cobra.Command, f *blocklistFlags, name string, s cmdline.Streams) error {
	domains, err := readDomains(f.domains, s.In)
	if err != nil {
		return err
	}
	return withStore(c.Context(), f.db, s, func(store backend.Store) error {
		l, err := blocklist.Load(c.Context(), store, name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		now, err := f.edit(c.Flags(), domains, &l.List)
		var version uint64
		if err == nil {
			version, err = blocklist.Save(c.Context(), store, name, l.Version, now)
		}
		if fault.Is(err, fault.Invalid) {
			return cmdline.Usage(err)
		}
		if err != nil {
			return err
		}
		changed := map[string]any{"name": name, "entries": now.Entries(), "version": version}
		return f.out.Print(s, changed, func() error {
			_, err := fmt.Fprintf(s.Out, "block list %s: %d entries, version %d\n", name, now.Entries(), version)
			return err
		})
	})
}

// edit returns a list after the changes that the given flags make. It returns fault.Invalid if the result is not
// valid.
func (f *blocklistFlags) edit(flags *pflag.FlagSet, domains []string, l *blocklist.List) (*blocklist.List, error) {
	e := blocklist.Edit{
		List: blocklist.List{Domains: domains, Categories: f.categories, Uncategorised: f.uncategorised},
		Has: map[string]bool{
			blocklist.FieldDomains: flags.Changed("domains"), blocklist.FieldCategories: flags.Changed("categories"),
			blocklist.FieldAdvertisers: flags.Changed("advertisers"), blocklist.FieldUncategorised: flags.Changed("uncategorised"),
		},
	}
	for _, id := range f.advertisers {
		e.Advertisers = append(e.Advertisers, uint64(id))
	}
	if err := e.Normalise(); err != nil {
		return nil, err
	}
	return e.Apply(l)
}

// readDomains reads a file of domains, ignoring empty lines.
func readDomains(path string, stdin io.Reader) (list []string, err error) {
	switch path {
	case "":
		return nil, nil
	case "-":
	default:
		file, e := os.Open(path)
		if e != nil {
			return nil, cmdline.Usage(e)
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		stdin = file
	}
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		if d := strings.TrimSpace(lines.Text()); d != "" {
			list = append(list, d)
		}
		if len(list) > 2*blocklist.MaxEntries {
			return nil, cmdline.WrongUse("--domains: more than %d lines", 2*blocklist.MaxEntries)
		}
	}
	return list, lines.Err()
}

func blocklistRemoveCommand(s cmdline.Streams) *cobra.Command {
	var db string
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:     "remove --db URL NAME",
		Short:   "Remove a block list",
		Long:    `Removes a block list. Requests that name it are refused from then on.`,
		Example: `  adshard blocklist remove --db sqlite:ads.db competitors`,
		Args:    oneList,
		RunE: func(c *cobra.Command, args []string) error {
			return withStore(c.Context(), db, s, func(store backend.Store) error {
				l, err := blocklist.Load(c.Context(), store, args[0])
				if err != nil {
					return err
				}
				if err := blocklist.Remove(c.Context(), store, args[0], l.Version); err != nil {
					return err
				}
				return o.Print(s, map[string]any{"name": args[0], "removed": true}, func() error { return nil })
			})
		},
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	o.Flag(c)
	return c
}
