package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/progress"
)

func slavesAddCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "add ADDR",
		Short: "Add a slave, or take back a drained one",
		Long: `Adds the slave that listens at ADDR (HOST:PORT) to the cluster; the strategy will move
slices to it. A slave that is draining or drained receives slices again. A slave whose
configuration names the balancer adds itself.`,
		Example: `  adshard slaves add 10.0.0.9:7100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.WrongUse("name the address of one slave, as in `adshard slaves add 10.0.0.9:7100`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return apiclient.Send(c.Context(), &f, s, "/v1/slaves", api.AddSlave{Address: args[0]}, func(v *api.SlaveChange) error {
				_, err := fmt.Fprintf(s.Out, "%s is a slave of the cluster and will receive slices; `adshard slaves list --watch` shows its progress\n",
					terminal.Printable(v.Name))
				return err
			})
		},
	}
	f.Add(c)
	return c
}

func slavesDrainCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var noWait bool
	c := &cobra.Command{
		Use:   "drain NAME",
		Short: "Empty a slave, so that it can be stopped",
		Long: `Moves all slices of a slave to the others and waits until it is empty; then the slave
can be stopped without any data missing from answers. If the command is interrupted
(Ctrl-C), draining continues; "slaves add" with its address takes the slave back.`,
		Example: `  adshard slaves drain slave-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return cmdline.WrongUse("name one slave; `adshard slaves list` lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runDrain(c.Context(), &f, s, args[0], noWait) },
	}
	f.Add(c)
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until it is empty")
	return c
}

func slavesRemoveCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a slave that is gone for good",
		Long: `Removes a stopped slave without slices from the cluster: it is no longer listed or
waited for. The command is refused while the slave is alive or has slices: "slaves
drain" first fills them on other slaves, even if this one is dead. A slave that joins
later under the same name is a new one.`,
		Example: `  adshard slaves drain slave-2     then stop it, if it runs
  adshard slaves remove slave-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return cmdline.WrongUse("name one slave; `adshard slaves list` lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return apiclient.Send(c.Context(), &f, s, slavePath(args[0], "remove"), nil, func(v *api.SlaveRemoved) error {
				_, err := fmt.Fprintf(s.Out, "%s is removed\n", terminal.Printable(v.Name))
				return err
			})
		},
	}
	f.Add(c)
	return c
}

func runDrain(ctx context.Context, f *apiclient.AdminFlags, s cmdline.Streams, name string, noWait bool) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	body, err := c.Post(ctx, slavePath(name, "drain"), nil)
	if err != nil {
		return err
	}
	var begun api.SlaveChange
	if err := c.Decode(body, &begun); err != nil {
		return err
	}
	if noWait {
		return apiclient.Render(c, f, s, body, func(v *api.SlaveChange) error {
			_, err := fmt.Fprintf(s.Out, "%s is being drained of %s; `adshard slaves list --watch` shows its progress\n",
				terminal.Printable(name), terminal.Many(uint64(v.Slices), "slice"))
			return err
		})
	}
	says := progress.New(s.Err)
	goesOn := fmt.Sprintf("the drain of %s continues; `adshard slaves list --watch` shows its progress", terminal.Printable(name))
	err = patiently(ctx, says, goesOn, func() (bool, error) { return drained(ctx, c, says, name, begun.Slices) })
	says.End()
	if err != nil {
		return err
	}
	if f.JSON {
		return apiclient.Send(ctx, f, s, slavePath(name, "drain"), nil, func(*api.SlaveChange) error { return nil })
	}
	_, err = fmt.Fprintf(s.Out, "%s is drained and can be stopped\n", terminal.Printable(name))
	return err
}

// drained reports whether a slave is drained, and shows its progress.
func drained(ctx context.Context, c *apiclient.Client, says *progress.Line, name string, slices int) (bool, error) {
	body, err := c.Get(ctx, "/v1/slaves", nil)
	if err != nil {
		return false, err
	}
	var list api.SlaveList
	if err := c.Decode(body, &list); err != nil {
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
			return false, fault.Newf(fault.Conflict, "", "%s is not being drained any more: it was added back", name)
		}
		more := fmt.Sprintf("%s moving", terminal.Many(uint64(v.MovingOut), "slice"))
		if v.Slices == 0 {
			more = "its old slices are being deleted"
		}
		says.Show(fmt.Sprintf("%s: %d of %s left", terminal.Printable(name), v.Slices, terminal.Many(uint64(max(slices, v.Slices)), "slice")), more)
		return false, nil
	}
	return false, fault.Newf(fault.NotFound, "", "there is no slave %s any more", name)
}
