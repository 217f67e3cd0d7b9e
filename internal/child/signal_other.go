//go:build !unix

package child

import "os"

// Forwarded returns the signals that are passed on to a command.
func Forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

// Ending returns those of the signals that mean that the program should end.
func Ending() []os.Signal { return Forwarded() }

// Ends reports whether the signal means that the program should end.
func Ends(os.Signal) bool { return true }

// Code returns the exit code of a program ended by the signal.
func Code(os.Signal) int { return 130 }

// fromTerminal reports whether the console sends the signal to all its programs.
func fromTerminal(s os.Signal) bool { return s == os.Interrupt }

// Signal can only kill where there are no signals.
func (p *Process) Signal(os.Signal) { _ = p.cmd.Process.Kill() }

// terminate leaves the grace time to the command: it cannot be told.
func (p *Process) terminate() {}
