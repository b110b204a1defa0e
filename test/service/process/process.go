// Package process starts a program, waits until its output says where it listens, keeps that
// output, and stops the program. Tests use it by way of package service. It does not import
// testing, because the demo is a program that people run.
package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// StopLimit is how long a program may take to end after it was asked to.
const StopLimit = 30 * time.Second

// Process is a program that was started.
type Process struct {
	// Address is where the program listens, as host:port.
	Address string
	// Output is what the program printed, to standard output and standard error.
	Output *Output

	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
}

// Start starts the command and waits until it listens; find finds the address in a line of its
// output (see NewOutput). A program that does not get so far is killed, and the error quotes the
// end of its output.
func Start(ctx context.Context, cmd *exec.Cmd, find func(line string) string) (*Process, error) {
	name := cmd.Args[0]
	p := &Process{Output: NewOutput(find), cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Output, p.Output
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
	var err error
	if p.Address, err = p.Output.Await(ctx, name, p.done); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// Stop asks the program to end (SIGTERM), kills it after StopLimit, and returns its exit code:
// -1 for one that a signal ended. Stopping what has ended returns its exit code again.
func (p *Process) Stop() int { return p.end(syscall.SIGTERM) }

// Kill ends the program at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() { p.end(os.Kill) }

func (p *Process) end(signal os.Signal) int {
	_ = p.cmd.Process.Signal(signal) // fails when the program has ended, which is what is wanted
	limit := time.NewTimer(StopLimit)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return p.cmd.ProcessState.ExitCode()
}
