package cluster

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/progress"
	"adshard/internal/wait"
)

const (
	// askEvery is the time between two polls of an operation's progress.
	askEvery = 250 * time.Millisecond
	// awayFor is how long a balancer may be unreachable meanwhile: long enough to start it again.
	awayFor = time.Minute
)

func balanceMoveCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var noWait bool
	c := &cobra.Command{
		Use:   "move SLICE SLAVE",
		Short: "Move a slice to a slave",
		Long: `Moves a slice to a slave and waits until the move has finished or was cancelled. If
the command is interrupted (Ctrl-C), the move continues. Answers stay complete
meanwhile. It also works while balancing is paused.`,
		Example: `  adshard balance move 7 slave-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cmdline.WrongUse("name a slice and a slave, as in `adshard balance move 7 slave-2`")
			}
			return sliceNumber(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			slice, _ := strconv.ParseUint(args[0], 10, 63)
			return runMove(c.Context(), &f, s, api.MoveRequest{Slice: slice, Slave: args[1]}, noWait)
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until the move has finished")
	return c
}

func runMove(ctx context.Context, f *apiclient.AdminFlags, s cmdline.Streams, r api.MoveRequest, noWait bool) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	body, err := c.Post(ctx, "/v1/balance/move", r)
	if err != nil {
		return err
	}
	if noWait {
		return apiclient.Render(c, f, s, body, func(m *api.SliceMove) error {
			_, err := fmt.Fprintf(s.Out, "slice %d is moving from %s to %s; `adshard balance why %d` shows its progress\n",
				m.Slice, terminal.Printable(m.From), terminal.Printable(m.To), m.Slice)
			return err
		})
	}
	w := moveWait{client: c, says: progress.New(s.Err), slice: r.Slice, to: r.Slave}
	body, err = w.wait(ctx)
	w.says.End()
	if err != nil {
		return err
	}
	return apiclient.Render(c, f, s, body, func(v *api.SliceStory) error {
		_, err := fmt.Fprintf(s.Out, "slice %d is on %s: %s\n", v.Slice, terminal.Printable(v.Slave), terminal.Many(v.Items, "ad group"))
		return err
	})
}

// moveWait polls a move until it ends.
type moveWait struct {
	client *apiclient.Client
	says   *progress.Line
	slice  uint64
	to     string
}

// wait returns the story of the slice once it has reached the target slave.
func (w *moveWait) wait(ctx context.Context) ([]byte, error) {
	var last []byte
	goesOn := fmt.Sprintf("the move continues; `adshard balance why %d` shows its progress", w.slice)
	err := patiently(ctx, w.says, goesOn, func() (done bool, err error) {
		body, err := w.client.Get(ctx, "/v1/balance/why/"+strconv.FormatUint(w.slice, 10), nil)
		if err != nil {
			return false, err
		}
		last = body
		var v api.SliceStory
		if err := w.client.Decode(body, &v); err != nil {
			return false, err
		}
		switch m := v.Move; {
		case m != nil:
			w.says.Show(fmt.Sprintf("slice %d to %s: %s", w.slice, terminal.Printable(m.To), phase(m)), terminal.Printable(m.WaitsFor))
			return false, nil
		case v.Slave == w.to:
			return true, nil
		}
		why := v.Decision
		if len(v.Events) > 0 {
			why = v.Events[0].Text
		}
		return false, fault.Newf(fault.Conflict, "", "slice %d was not moved and is still on %s: %s", w.slice, terminal.Printable(v.Slave), terminal.Printable(why))
	})
	return last, err
}

// patiently calls ask until it reports done or returns an error. It waits for a balancer that is unreachable for less
// than awayFor. goesOn says what continues when ctx is done.
func patiently(ctx context.Context, says *progress.Line, goesOn string, ask func() (done bool, err error)) error {
	away := time.Time{}
	for {
		done, err := ask()
		switch {
		case ctx.Err() != nil:
			return cmdline.Interrupted(goesOn)
		case err == nil && done:
			return nil
		case err == nil:
			away = time.Time{}
		case !fault.Is(err, fault.Unavailable):
			return err
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > awayFor:
			return err
		}
		if err != nil {
			says.Show("the balancer is away", "")
		}
		if wait.Sleep(ctx, askEvery) != nil {
			return cmdline.Interrupted(goesOn)
		}
	}
}

// slavePath returns the path of a call about a slave.
func slavePath(name, call string) string { return "/v1/slaves/" + url.PathEscape(name) + "/" + call }
