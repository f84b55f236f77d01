import { Global, Module } from '@nestjs/common';
import { ConfigModule as NestConfigModule, registerAs } from '@nestjs/config';
import { AppConfig, loadConfig } from './environment.js';

/** The settings under @nestjs/config's own token; tests override this one. `.env` in the working folder is read too, but not in tests. */
export const appConfig = registerAs('tollgate', () => loadConfig(process.env));

@Global()
@Module({
  imports: [
    NestConfigModule.forRoot({ load: [appConfig], cache: true, ignoreEnvFile: process.env['NODE_ENV'] === 'test' }),
  ],
  providers: [{ provide: AppConfig, useExisting: appConfig.KEY }],
  exports: [AppConfig],
})
export class ConfigModule {}
