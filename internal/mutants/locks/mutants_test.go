package main

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

func TestMutantsNoLongerFit(t *testing.T) { mutants.CheckFit(t, allMutants()) }

func TestTableMissesAMutant(t *testing.T) { mutants.CheckTold(t, "README.md", allMutants()) }
