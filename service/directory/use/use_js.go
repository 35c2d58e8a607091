package use
