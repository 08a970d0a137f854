package cluster

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

// dataKinds are the kinds of entities as in the API's paths.
var dataKinds = []string{"advertisers", "campaigns", "groups", "keywords", "negatives", "ads"}

// dataKind parses a kind, in singular or plural.
func dataKind(text string) (string, error) {
	for _, kind := range dataKinds {
		if text == kind || text+"s" == kind {
			return kind, nil
		}
	}
	return "", cmdline.WrongUse("there is no kind %q; there are %s", text, strings.Join(dataKinds, ", "))
}

// dataID parses an id.
func dataID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, cmdline.WrongUse("%q is not an id: ids are whole numbers from 1, and `adshard list` shows them", text)
	}
	return id, nil
}

// ownerFlags name the owner of an entity.
type ownerFlags struct{ advertiser, campaign, group uint64 }

func (f *ownerFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&f.advertiser, "advertiser", 0, "the id of the advertiser")
	c.Flags().Uint64Var(&f.campaign, "campaign", 0, "the id of the campaign")
	c.Flags().Uint64Var(&f.group, "group", 0, "the id of the ad group")
}

// query returns the owner as parameters.
func (f *ownerFlags) query() url.Values {
	q := url.Values{}
	for name, id := range map[string]uint64{"advertiser": f.advertiser, "campaign": f.campaign, "group": f.group} {
		if id != 0 {
			q.Set(name, strconv.FormatUint(id, 10))
		}
	}
	return q
}

// check returns an error if a flag is missing, or if several owners are named.
func (f *ownerFlags) check(kind string) error {
	held := kind == "keywords" || kind == "ads" || kind == "negatives"
	switch {
	case held && f.group == 0 && (kind != "negatives" || f.campaign == 0 && f.advertiser == 0):
		more := ""
		if kind == "negatives" {
			more = ", or the campaign with --campaign ID, or the advertiser with --advertiser ID"
		}
		return cmdline.WrongUse("%s are looked up in their ad group: name it with --group ID%s", kind, more)
	case held && min(f.group, 1)+min(f.campaign, 1)+min(f.advertiser, 1) > 1:
		return cmdline.WrongUse("%s of an ad group, a campaign or an advertiser: give --group, --campaign or --advertiser, not both", kind)
	}
	return nil
}

// ListCommand lists data.
func ListCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var owner ownerFlags
	var limit int
	var cursor string
	c := &cobra.Command{
		Use:   "list KIND",
		Short: "List advertisers, campaigns, groups, keywords, negatives or ads",
		Long: `Lists entities by id, a page at a time: advertisers, campaigns (all, or --advertiser),
groups (all, or --campaign), and what a group holds: keywords, negatives and ads
(--group; negatives of a campaign or advertiser with --campaign or --advertiser). Below a page that is not the last
one is the --cursor of the next. Money is in micros: 1 unit is 1,000,000.`,
		Example: `  adshard list campaigns
  adshard list groups --campaign 3
  adshard list keywords --group 7 --limit 1000 --json`,
		Args: oneKind,
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := dataKind(args[0])
			if err == nil {
				err = owner.check(kind)
			}
			if err != nil {
				return err
			}
			q := owner.query()
			q.Set("limit", strconv.Itoa(limit))
			if cursor != "" {
				q.Set("cursor", cursor)
			}
			return apiclient.Show(c.Context(), &f, s, "/v1/"+kind, q, func(v *api.ItemList) error { return showItems(s, v) })
		},
	}
	f.Add(c)
	owner.add(c)
	c.Flags().IntVar(&limit, "limit", 100, "the most to list, up to 1000; of groups, 100")
	c.Flags().StringVar(&cursor, "cursor", "", "go on after the page that ended with this")
	return c
}

func oneKind(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cmdline.WrongUse("name one kind: %s", strings.Join(dataKinds, ", "))
	}
	return nil
}

func showItems(s cmdline.Streams, v *api.ItemList) error {
	t := terminal.NewTable(s.Out, "ID", "STATUS", "NAME", "SETTINGS")
	for i := range v.Items {
		it := &v.Items[i]
		t.Row(strconv.FormatUint(it.ID, 10), string(it.Status), terminal.Cut(itemName(it), 60), strings.Join(settingsOf(it), " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if v.Next != "" {
		_, err := fmt.Fprintf(s.Out, "there are more: --cursor %s\n", v.Next)
		return err
	}
	return nil
}

// itemName returns the text by which people recognise an entity.
func itemName(it *api.Item) string {
	switch {
	case it.Name != "":
		return it.Name
	case it.Text != "":
		return fmt.Sprintf("%s (%s)", it.Text, it.MatchType)
	}
	return strings.Join(it.Headlines, " | ")
}

// settingsOf returns the fields of an entity, except its name and status, in the form that set accepts.
func settingsOf(it *api.Item) (out []string) {
	add := func(name string, has bool, value any) {
		if has {
			out = append(out, fmt.Sprintf("%s=%v", name, value))
		}
	}
	for _, s := range it.Settings() {
		add(s.Name, true, s.Value)
	}
	if it.Learned != nil {
		add("learned", true, it.Learned.Quality)
	}
	add("budget_exhausted", it.BudgetExhausted, true)
	if it.SpentMicros != nil {
		add("spent_micros", true, *it.SpentMicros)
	}
	add("final_url", it.Type == api.ItemTypeAd && it.FinalURL != "", it.FinalURL)
	add("paused_by", len(it.PausedBy) > 0, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(it.PausedBy)), ","), "[]"))
	return out
}

// GetCommand shows one entity.
func GetCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var owner ownerFlags
	c := &cobra.Command{
		Use:   "get KIND ID",
		Short: "Show one entity with its fields and ETag",
		Long: `Shows one advertiser, campaign, group, keyword, negative or ad. Keywords, negatives and
ads are found through the group (--group), campaign or advertiser that holds them.`,
		Example: `  adshard get campaign 3
  adshard get keyword 12 --group 7 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cmdline.WrongUse("name a kind and an id, as in `adshard get campaign 3`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := dataKind(args[0])
			if err == nil {
				err = owner.check(kind)
			}
			var id uint64
			if err == nil {
				id, err = dataID(args[1])
			}
			if err != nil {
				return err
			}
			q := url.Values{}
			if slices.Contains(dataKinds[3:], kind) {
				q = owner.query()
			}
			return apiclient.Show(c.Context(), &f, s, fmt.Sprintf("/v1/%s/%d", kind, id), q, func(v *api.ItemAnswer) error {
				return showItem(s, &v.Item)
			})
		},
	}
	f.Add(c)
	owner.add(c)
	return c
}

func showItem(s cmdline.Streams, it *api.Item) error {
	fmt.Fprintf(s.Out, "%s %d, %s: %s\n", it.Type, it.ID, it.Status, terminal.Printable(itemName(it)))
	for _, v := range settingsOf(it) {
		fmt.Fprintf(s.Out, "  %s\n", terminal.Printable(v))
	}
	for _, v := range it.Descriptions {
		fmt.Fprintf(s.Out, "  description %s\n", terminal.Printable(v))
	}
	_, err := fmt.Fprintf(s.Out, "  version %d, ETag %s\n", it.Version, it.Etag)
	return err
}
