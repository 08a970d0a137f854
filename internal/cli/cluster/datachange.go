package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/wait"
)

// changeFlags are the flags of commands that change data.
type changeFlags struct {
	apiclient.AdminFlags
	owner   ownerFlags
	ifMatch string
	wait    bool
}

func (f *changeFlags) add(c *cobra.Command) {
	f.AdminFlags.Add(c)
	f.owner.add(c)
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until all live slaves serve the change, for at most 5 seconds")
}

// operation is one operation of a batch.
type operation map[string]any

// update returns the operation that changes an entity's fields.
func (f *changeFlags) update(kind string, id uint64, fields map[string]any) operation {
	o := operation{"op": "update", "type": strings.TrimSuffix(kind, "s"), "id": id}
	if f.owner.group != 0 {
		o["group_id"] = f.owner.group
	}
	if f.owner.campaign != 0 {
		o["campaign_id"] = f.owner.campaign
	}
	if f.owner.advertiser != 0 {
		o["advertiser_id"] = f.owner.advertiser
	}
	if f.ifMatch != "" {
		o["if_match"] = f.ifMatch
	}
	for name, v := range fields {
		o[name] = v
	}
	return o
}

const (
	changeTries = 4
	changePause = 200 * time.Millisecond
)

// send makes the changes in one transaction and shows the result. The request has an idempotency key, so that it can
// be repeated if there was no answer, and still takes effect only once.
func (f *changeFlags) send(ctx context.Context, s cmdline.Streams, list []operation) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	text, err := json.Marshal(map[string]any{"operations": list})
	if err != nil {
		return err
	}
	u := c.Base.JoinPath("/v1/batch")
	if f.wait {
		u.RawQuery = "wait=served"
	}
	header := http.Header{"Idempotency-Key": {"cli-" + rand.Text()}}
	var body []byte
	for try := 1; ; try++ {
		body, err = c.Do(ctx, http.MethodPost, u, header, text)
		if !fault.Is(err, fault.Unavailable) || try == changeTries {
			break
		}
		if wait.Sleep(ctx, changePause/2+mathrand.N(changePause)) != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return apiclient.Render(c, &f.AdminFlags, s, body, func(v *api.DataChanges) error { return showChanges(s, v) })
}

func showChanges(s cmdline.Streams, v *api.DataChanges) error {
	for _, c := range v.Changes {
		text := ""
		if c.Item != nil {
			text = fmt.Sprintf(", %s: %s %s", c.Item.Status, itemName(c.Item), strings.Join(settingsOf(c.Item), " "))
		}
		fmt.Fprintf(s.Out, "%s %s %d%s\n", c.Effect, c.Type, c.ID, terminal.Printable(strings.TrimRight(text, " ")))
	}
	served := ""
	if v.Served != nil && *v.Served {
		served = ", served by all slaves"
	} else if v.Served != nil {
		served = "; not known to be served by all slaves yet"
	}
	_, err := fmt.Fprintf(s.Out, "min_clock %s%s\n", v.MinClock, served)
	return err
}

// PauseCommand returns the command that pauses entities.
func PauseCommand(s cmdline.Streams) *cobra.Command {
	return statusCommand(s, "pause", "paused", "Pause entities: their ads are not shown")
}

// ResumeCommand returns the command that resumes entities.
func ResumeCommand(s cmdline.Streams) *cobra.Command {
	return statusCommand(s, "resume", "enabled", "Resume entities that are paused")
}

// statusCommand returns a command that sets the status of entities.
func statusCommand(s cmdline.Streams, verb, status, short string) *cobra.Command {
	var f changeFlags
	c := &cobra.Command{
		Use:   verb + " KIND ID…",
		Short: short,
		Long: fmt.Sprintf(`Sets the status of one or more entities of one kind to %s, in one transaction: all or
none. Keywords, negatives and ads are found through the group (--group), campaign or
advertiser that holds them. Answers to queries follow within a second; --wait waits for that.`, status),
		Example: fmt.Sprintf(`  adshard %[1]s campaign 3
  adshard %[1]s keyword 12 13 --group 7 --wait`, verb),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cmdline.WrongUse("name a kind and one id or more, as in `adshard %s campaign 3`", verb)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := dataKind(args[0])
			if err == nil {
				err = f.owner.check(kind)
			}
			if err != nil {
				return err
			}
			var list []operation
			for _, text := range args[1:] {
				id, err := dataID(text)
				if err != nil {
					return err
				}
				list = append(list, f.update(kind, id, map[string]any{"status": status}))
			}
			return f.send(c.Context(), s, list)
		},
	}
	f.add(c)
	return c
}

// SetCommand returns the command that changes settings.
func SetCommand(s cmdline.Streams) *cobra.Command {
	var f changeFlags
	c := &cobra.Command{
		Use:   "set KIND ID FIELD=VALUE…",
		Short: "Change fields of one entity",
		Long: `Changes fields of one entity; null restores a default. Money is in micros: 1 unit is 1,000,000; modifiers are per cent.
` + api.SettingsHelp + `
  campaign, group    paused_by=null (served as its status says; so does status=enabled, but for the end date)
  all                status=enabled|paused

Names, texts and an ad's content are what entities are known by; they are not changed.
With --if-match and the ETag of "get", nothing is changed if another change came first.`,
		Example: `  adshard set keyword 12 --group 7 max_cpc_micros=450000
  adshard set campaign 3 daily_budget_micros=null languages=cs,en
  adshard set group 7 mobile_bid_modifier=-20 --if-match '"27d1c5a06b1f2f0e"' --wait`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 3 {
				return cmdline.WrongUse("name a kind, an id and a field with its value, as in `adshard set group 7 max_cpc_micros=450000`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := dataKind(args[0])
			if err == nil {
				err = f.owner.check(kind)
			}
			var id uint64
			if err == nil {
				id, err = dataID(args[1])
			}
			var fields map[string]any
			if err == nil {
				fields, err = settings(args[2:])
			}
			if err != nil {
				return err
			}
			return f.send(c.Context(), s, []operation{f.update(kind, id, fields)})
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.ifMatch, "if-match", "", "change it only if it still has this ETag")
	return c
}

// reserved has the names in an operation that are not fields.
var reserved = map[string]bool{"op": true, "type": true, "id": true, "if_match": true, "advertiser_id": true, "campaign_id": true, "group_id": true}

// settings parses FIELD=VALUE arguments. The server checks the values.
func settings(args []string) (map[string]any, error) {
	out := map[string]any{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if _, twice := out[name]; !ok || name == "" || twice || reserved[name] {
			return nil, cmdline.WrongUse("%q is not a field and its value: write FIELD=VALUE, each field once; `adshard set --help` lists them", arg)
		}
		switch {
		case value == "null":
			out[name] = nil
		case api.ListSettings[name]:
			out[name] = strings.Split(value, ",")
		case api.TextSettings[name]:
			out[name] = value
		case api.ValueSettings[name] && json.Valid([]byte(value)):
			out[name] = json.RawMessage(value)
		case json.Valid([]byte(value)) && strings.Trim(value, "-0123456789.") == "":
			out[name] = json.Number(value)
		default:
			out[name] = value
		}
	}
	return out, nil
}
