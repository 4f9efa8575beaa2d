import Commands

Tool.dermafusion.main()
