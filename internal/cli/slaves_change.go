package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/progress"
)

func slavesAddCommand(s Streams) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "add ADDR",
		Short: "Add a slave, or take back a drained one",
		Long: `Adds the slave that listens at ADDR (HOST:PORT) to the cluster: it gets slices by and
by, as the strategy decides. A slave that is draining or drained takes slices again.
A slave whose configuration names the balancer needs no adding.`,
		Example: `  adshard slaves add 10.0.0.9:7100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return wrongUse("name the address of one slave, as in `adshard slaves add 10.0.0.9:7100`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return tell(c.Context(), &f, s, "/v1/slaves", api.AddSlave{Address: args[0]}, func(v *api.SlaveChange) error {
				_, err := fmt.Fprintf(s.Out, "%s is one of the cluster's slaves and gets slices by and by; `adshard slaves list --watch` shows it\n",
					printable(v.Name))
				return err
			})
		},
	}
	f.add(c)
	return c
}

func slavesDrainCommand(s Streams) *cobra.Command {
	var f adminFlags
	var noWait bool
	c := &cobra.Command{
		Use:   "drain NAME",
		Short: "Empty a slave, so that it can be stopped",
		Long: `Moves all slices of a slave to the others and waits until that is done; then it can be
stopped with nothing missing. Broken off (Ctrl-C) draining goes on; slaves add with
its address takes it back.`,
		Example: `  adshard slaves drain slave-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return wrongUse("name one slave; `adshard slaves list` lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runDrain(c.Context(), &f, s, args[0], noWait) },
	}
	f.add(c)
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until it is empty")
	return c
}

func slavesRemoveCommand(s Streams) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget a slave that is gone for good",
		Long: `Removes a slave that is stopped and has no slices from the cluster: it is no longer
listed, and nothing waits for it. Refused while the slave is alive or has slices:
"slaves drain" fills them on other slaves first, even when this one is dead. A slave
that comes later under the same name is a new one.`,
		Example: `  adshard slaves drain slave-2     then stop it, if it runs
  adshard slaves remove slave-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return wrongUse("name one slave; `adshard slaves list` lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return tell(c.Context(), &f, s, slavePath(args[0], "remove"), nil, func(v *api.SlaveRemoved) error {
				_, err := fmt.Fprintf(s.Out, "%s is removed\n", printable(v.Name))
				return err
			})
		},
	}
	f.add(c)
	return c
}

func runDrain(ctx context.Context, f *adminFlags, s Streams, name string, noWait bool) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	defer c.close()
	body, err := c.post(ctx, slavePath(name, "drain"), nil)
	if err != nil {
		return err
	}
	var begun api.SlaveChange
	if err := c.decode(body, &begun); err != nil {
		return err
	}
	if noWait {
		return given(c, f, s, body, func(v *api.SlaveChange) error {
			_, err := fmt.Fprintf(s.Out, "%s is being drained of %s; `adshard slaves list --watch` shows how far it is\n",
				printable(name), many(uint64(v.Slices), "slice"))
			return err
		})
	}
	says := progress.New(s.Err)
	goesOn := fmt.Sprintf("the drain of %s continues; `adshard slaves list --watch` shows how far it is", printable(name))
	err = patiently(ctx, says, goesOn, func() (bool, error) { return drained(ctx, c, says, name, begun.Slices) })
	says.End()
	if err != nil {
		return err
	}
	if f.json {
		return tell(ctx, f, s, slavePath(name, "drain"), nil, func(*api.SlaveChange) error { return nil })
	}
	_, err = fmt.Fprintf(s.Out, "%s is drained and can be stopped\n", printable(name))
	return err
}

// drained tells whether a slave is, and says how far it is.
func drained(ctx context.Context, c *client, says *progress.Line, name string, slices int) (bool, error) {
	body, err := c.get(ctx, "/v1/slaves", nil)
	if err != nil {
		return false, err
	}
	var list api.SlaveList
	if err := c.decode(body, &list); err != nil {
		return false, err
	}
	for i := range list.Slaves {
		v := &list.Slaves[i]
		if v.Name != name {
			continue
		}
		switch v.State {
		case api.SlaveStateDrained:
			return true, nil
		case api.SlaveStateActive:
			return false, fault.Newf(fault.Conflict, "", "%s is not being drained any more: somebody took it back", name)
		}
		more := fmt.Sprintf("%s on the way", many(uint64(v.MovingOut), "slice"))
		if v.Slices == 0 {
			more = "its old slices are being deleted"
		}
		says.Show(fmt.Sprintf("%s: %d of %s left", printable(name), v.Slices, many(uint64(max(slices, v.Slices)), "slice")), more)
		return false, nil
	}
	return false, fault.Newf(fault.NotFound, "", "there is no slave %s any more", name)
}
